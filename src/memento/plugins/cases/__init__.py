"""
Cases: what worked before, found by similarity and by a value that is learned from rewards.

*Flow:* a `domain` has a `bank` of cases as arrays and a `learner`. `retrieve` selects the cases that are near a task or share an
entity with it, and orders them by their cosine and by the Q function; `credit` gives the reward of the task to the cases that were
shown, and the Q function learns from it. `plan` makes a plan from cases and executes it, `runs` stores each step, `lifecycle` turns
a run into a case, and shows, hides and deletes cases; `navigate` shows many cases at once.

*Because:* only the graph is authoritative. Vectors, arrays and weights are derived from it and rebuilt when they are missing.
"""

from memento.plugin import Plugin

plugin = Plugin(
    name="cases",
    summary="Finished tasks as examples, tasks that run, plans.",
    operations="memento.plugins.cases.operations",
    handlers="memento.plugins.cases.handlers",
    settings={
        "cases": "memento.plugins.cases.settings:CasesSettings",
        "executor": "memento.plugins.cases.settings:ExecutorSettings",
    },
    tools={"cases": "memento.plugins.cases.tools:CASE_TOOLS"},
    groups={"cases": "Finished tasks as examples: find what worked before, plan a task after it, run the plan."},
    pages={
        "/cases": "memento.plugins.cases.views:show_cases",
        "/cases/{case}": "memento.plugins.cases.views:show_case",
    },
    gauges="memento.plugins.cases.views:measure_cases",
    buttons=("forget_case",),
    commands="memento.plugins.cases.commands",
    views="memento.plugins.cases.views:VIEWS",
)
