"""The figures of a report by their keys: what each is called, and what it means."""

from __future__ import annotations

#: The first figures, in the order in which they are read.
FIGURES = {
    "accuracy": ("Agreement with people", "share of cases on which judge and people give the same label"),
    "balanced_accuracy": ("Balanced accuracy", "mean of the shares found among badcases and among usable cases"),
    "recall_bad": ("Badcases found", "of the cases people call badcase, the share the judge flags"),
    "precision_bad": ("Flags that are right", "of the cases the judge flags, the share people call badcase"),
    "specificity": ("Usable cases passed", "of the cases people call usable, the share the judge passes"),
    "kappa": ("Cohen's kappa", "agreement beyond what chance would give: 0 is chance, 1 is perfect"),
}

#: The figures over all judged cases.
ALL_JUDGED_FIGURES = {
    "accuracy": "Agreement with people",
    "recall_bad": "Badcases found",
    "specificity": "Usable cases passed",
    "precision_bad": "Flags that are right",
    "npv": "Passed cases that are usable",
    "usable_rate": "Truly usable cases (the generator's)",
}
