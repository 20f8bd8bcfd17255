import lab

setting = dict(draft_length=4, acceptance=1, draft=3, verify=40, plain=30, rounds=100, seed=42)
found = lab.report(setting)
print(lab.number(found["expected"]), lab.number(found["observed"]))
