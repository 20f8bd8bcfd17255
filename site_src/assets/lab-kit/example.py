import lab

setting = {"draft_length": 4, "acceptance": 1, "draft": 3, "verify": 40, "plain": 30, "rounds": 100}
found = lab.report({**setting, "seed": 42})
print(lab.number(found["expected"]), lab.number(found["observed"]))
