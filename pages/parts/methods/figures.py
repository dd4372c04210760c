"""The figures of the headline, all on one example: 300 cases that people labelled, 50 of them badcases."""

from pages.parts.methods.explained import Explained

EXPLAINED = (
    Explained(
        "agreement",
        "Agreement with people",
        """
Of the cases that people labelled, the share on which the judge gives the same label as they do. It is the accuracy of
the judge, with people's label (the lead's decision, else the majority) taken as right. Cases without a majority are
left out and counted apart.

*Example, used all down to kappa.* People labelled 300 cases: 50 badcase, 250 usable. The judge flagged 59 of them, 36
of these rightly, and passed 241, of which 14 were badcases that it missed. It gives the same label as people on 36 +
227 = 263 of 300: **87.7 % [83.5–90.9]**. The numbers in brackets are the [interval](#interval).

A case on which the judge gave no label, because it refused or its reply could not be read, counts as a disagreement:
whoever relies on the judge gets nothing there.
""",
        {
            "no_data": "Nobody has labelled a randomly drawn case of this run on the chosen basis yet. Label some.",
            "no_threshold": "A score becomes a label only by a threshold: usable from that score on. Choose one to see how "
            "the judge would agree.",
            "judge_answered_none": "All its replies were refusals or could not be read, so there is no label to compare.",
        },
    ),
    Explained(
        "baseline",
        "Always “usable”: the baseline",
        """
What a judge would reach that looks at nothing and always gives the more frequent label. Where most pictures are fine
that is a lot, and a judge below it is worth nothing for sorting, however good its agreement sounds.

*Example.* 250 of the 300 cases are usable, so always saying usable agrees on **83.3 %**. The judge's 87.7 % is 4.3
points more, with an interval from −0.7 to 9.4 points: it is not shown that it beats the baseline. A judge beats
“always usable” exactly when more than half of its flags are right.
""",
        {
            "accuracy_misleading": "Agreement is high mainly because nearly all cases have one label. Read badcases found, flags "
            "that are right and kappa instead.",
            "worse_than_constant": "Even with the luck of the draw taken into account, giving everything the more frequent "
            "label would agree more often. The judge may still be of use to find badcases, not to decide.",
            "not_shown_better_than_constant": "The judge may be better or worse than that; these labels cannot tell. More "
            "labels may.",
        },
    ),
    Explained(
        "badcases-found",
        "Badcases found, and usable cases passed",
        """
*Badcases found* (recall): of the cases that people call badcase, the share that the judge flags. *Usable cases
passed* (specificity): of the cases that people call usable, the share that it passes. The first tells what slips
through, the second how much good work is thrown away.

*Example.* It flags 36 of 50 badcases: **72.0 % [58.3–82.5]**. It passes 227 of 250 usable cases: **90.8 %
[86.6–93.8]**. The first interval is wider since it rests on 50 cases, not 300: to know it better takes more
*badcases*.
""",
        {
            "no_human_bad": "Without a badcase nothing can be said of how many the judge finds. Label more cases, or an audit of "
            "the flagged ones.",
            "no_human_usable": "Without a usable case nothing can be said of how many the judge passes.",
            "few_human_bad": "With 5 badcases, 4 of them found, it may be anything from 38 % to 96 %.",
            "few_human_usable": "The same for usable cases: too few to say what share the judge passes.",
        },
    ),
    Explained(
        "flags-right",
        "Flags that are right",
        """
Of the cases that the judge flags, the share that people call badcase (precision). It tells whoever works through the
flags how much of that work is in vain. *Passed cases that are usable* is the same for the cases that it passes.

*Example.* 36 of 59 flags are right: **61.0 % [48.3–72.4]**. It depends on how many badcases there are: on pictures
with fewer badcases the same judge has fewer right flags.
""",
        {
            "judge_flagged_none": "A share of no flags does not exist. If there are badcases, the judge found none of them.",
            "judge_passed_none": "The judge called everything badcase, so there are no passed cases to take a share of.",
        },
    ),
    Explained(
        "balanced-accuracy",
        "Balanced accuracy",
        """
The mean of badcases found and usable cases passed. Both kinds of case weigh the same, however rare one is, so a judge
that always says usable gets 50 %, not 83 %.

*Example.* (72.0 % + 90.8 %) / 2 = **81.4 % [74.2–86.9]**. The *F1* of a class, in the tables and the export, is
another such mean: of how many of its cases are found and how many found ones are right.
""",
        {
            "one_human_class": "With one kind of case only, one of the two shares does not exist, and neither does their mean.",
            "class_absent": "Neither judge nor people gave this label to any case, so there is nothing to count for it.",
        },
    ),
    Explained(
        "kappa",
        "Cohen's kappa",
        """
Agreement beyond what chance alone would give two raters who use the labels as often as these two do. 1 is perfect, 0
is chance, below 0 is worse. Compare it with the kappa of [people among themselves](#people), not with words such as
“good”.

*Example.* By chance alone, judge and people would agree on 70.2 % of these cases. They agree on 87.7 %, so kappa is
(87.7 − 70.2) / (100 − 70.2) = **0.59 [0.45–0.69]**. *MCC* in the export is a close relative. *AC1*, there as well,
rises as one label gets rarer, so it is never a headline.
""",
        {
            "single_category": "When everybody gives everything the same label, chance alone would agree on all of it: nothing "
            "is left to be measured. Shown is 100 % agreement, never kappa 1 or 0.",
            "zero_margin": "A correlation needs both labels on both sides.",
        },
    ),
)
