    Row(
        name="echo",
        record="mine",
        place="engine.experiments.echo:Echo",
        question="How often does looking back in a text find its next byte?",
        minutes=1,
        payloads=("mine/echo",),
    ),
