"""What the figures rest on: intervals, prompts, how cases were drawn, who saw what, claims, all judged cases."""

from pages.parts.methods.explained import Explained

EXPLAINED = (
    Explained(
        "interval",
        "The interval, and how many cases it rests on",
        """
The labelled cases are a sample. Another sample would have given another figure; the interval holds those values of
the truth that go well with what was seen. Built like this, 95 of 100 such intervals hold the truth. It knows the luck
of the draw only, not a wrong guideline, tired reviewers or next month's prompts.

*Example.* 85 of 100 right is **85.0 % [76.7–90.7]**; of 300, 85 % is [80.5–88.6]. Four times the labels make it half
as wide. 5 of 5 right is 100 % [56.6–100.0]: the interval is never without width. It is Wilson's; the method stands
with each figure.
""",
        {
            "small_n": "The figure may be far off. Nothing is coloured as passed or failed on so few cases.",
            "degenerate": "All cases say the same, or there are too few to see how they scatter, so the width cannot be told.",
            "interval_undefined": "The calculation has no answer with so few labels, so everything is left possible.",
        },
    ),
    Explained(
        "prompts",
        "Prompts, and “worth about n independent cases”",
        """
Pictures of one prompt succeed or fail together: if the prompt is hard, all of them are. Ten pictures of one prompt
tell less than ten of ten prompts. All intervals count prompts, not only pictures, and say what the cases are worth.

*Example.* 85 of 100 right, but with several pictures a prompt, worth about 43 independent cases: the interval is then
about [71.6–92.7] in place of [76.7–90.7]. Labelling more *prompts* helps more than more pictures of the same. (For
shares the variance is taken over prompts; for kappa and the like one prompt after the other is left out and the
figure computed anew.)
""",
        {
            "few_clusters": "What is true of so few prompts need not be true of others. With a single prompt no interval can be "
            "given at all, nor how many more labels something takes: nothing can be said beyond it. Label cases of other prompts.",
        },
    ),
    Explained(
        "drawn",
        "Random, audit and picked labels",
        """
What a label says about *all* cases depends on how its case was chosen.

- **Random**: the reviewer went through all cases in shuffled order. Whatever part is done is a fair sample.
- **Audit**: a known share of the flagged and of the passed cases was drawn, say half and a tenth. It counts [over all
  judged cases](#all-judged), where the shares are reckoned back, and not in the plain figures.
- **Picked**: somebody chose the case: disagreements first, lowest score first, a filter, a complaint. Such labels
  are never counted, because cases chosen for looking wrong make a judge look wrong; they are seen on the case's page.

*Example.* A judge right on 91 % of all cases, of which people looked at half of the flagged and 5 % of the passed,
looks right on 80 % when the labels are simply counted.

Cases that a prompt shows as examples or that a judge was tuned on are left out, too, and so are labels on an earlier
version of a case.
""",
        {},
    ),
    Explained(
        "blind",
        "Blind and shown labels",
        """
Who sees a verdict first tends to agree with it. So the desk hides it, takes the label, and shows it then; both the
first and the revised label are kept. The headline rests on **first labels, given blind**. “Current labels, blind or
not” is the other basis.

Where a dataset draws at random which cases are shown, the effect can be measured. *Example.* The judge agrees with 78
of 100 labels given blind and with 91 of 100 given with the verdict in sight: a difference of **13 points [2.9–23.0]**
that the judge owes to having been seen. Without such a draw the two are not comparable, and the page says so.
""",
        {},
    ),
    Explained(
        "claims",
        "Claims: pass, fail or undecided, and peeking",
        """
“The judge agrees with people on at least 85 %” is tested with a bound, not with the figure itself: it **passes** when
even a pessimistic reading (wrong in at most 5 % of cases) is above 85 %, **fails** when even an optimistic one is
below, and is else **undecided**. The bound is exact (Clopper and Pearson's; Korn and Graubard's where cases share
prompts).

*Example.* 92 of 100: surely above 86.0 %, passes. 88 of 100: between 81.3 % and 92.9 %, undecided. 70 of 100: surely
below 77.5 %, fails. 85 of 100 shows no more than “at least 77.8 %”.

**Peeking.** Who looks after every ten labels and stops when it passes, claims falsely in one of five cases instead of
one of twenty. So looks are counted, and each further one must show more. Best is to [plan the number](#planning), and
look once. Until the planned labels are there, the answer is “interim”.
""",
        {},
    ),
    Explained(
        "all-judged",
        "Over all judged cases, and the true usable rate",
        """
The judge labelled many cases, people a few of them. Within the flagged cases the labelled ones are a random draw, and
within the passed ones, too; how many were flagged is known. So each part is measured by itself and weighed by its
true size. This is the right figure wherever people look at flags more often than at passed cases. The **true usable
rate** of the generator comes out of it as well; the share that the judge passes is not it, since the judge errs in
both directions.

*Example.* Of 1,000 cases the judge flags 300. People look at 150 of these, 120 are badcases, and at 70 of the 700
passed, 67 are usable. Simply counted it is right on 187 of 220, 85.0 %. Over all cases it is right on 0.3 × 80 % +
0.7 × 95.7 % = **91.0 % [85.3–93.6]**, and **73.0 % [67.0–76.6]** of the cases are truly usable, though the judge
passed 70 %.

*With labels from elsewhere only* (another dataset of the same judge) the rate can be corrected by how often the judge
errs there, if one trusts that it errs here just as often. That cannot be tested, and it costs most of the precision.
""",
        {
            "unreviewed_verdict": "Nobody has looked at any flagged, or any passed, case. The limits shown are the worst cases: "
            "all of these right, or all wrong.",
            "unsampled_stratum": "The same for a band of scores: cases that nobody looked at could be anything.",
            "few_misses": "How many badcases slip through hangs on the few that were seen among the passed cases; one more would "
            "change it a lot. Read the lower limit. Audit more of the passed cases.",
            "judge_at_chance": "Where the labels come from, it flags badcases no more often than usable cases, so its verdicts "
            "say nothing about the rate.",
            "calibration_misfit": "The judge passed more, or fewer, cases than its known errors allow. It does not err here as "
            "it did there.",
        },
    ),
    Explained(
        "planning",
        "How many labels it takes",
        """
Before labelling: what is to be known, and how well? *Examples*, each for independent cases:

- agreement to within ±5 points, if it is 85 %: **196** labels; in the worst case, 50 %: 381;
- to show “at least 85 %” with a chance of 80 %, if the judge is right on 90 %: **304**; if it is right on 85 %,
  never;
- badcases found to within ±10 points, if it is 80 %: 60 *badcases*, which are **600** random cases where one of ten
  is bad;
- a difference of 5 points between two judges that differ on 20 % of cases: **626**; on 10 %: 312.

Where pictures share prompts it takes more, by as much as they are alike so far. Days are reckoned by the cases that
all reviewers together labelled on the last 14 days with labels. For agreement and claims take the random queue; for
badcases found an audit can need fewer labels, and the page reckons what each would reach.
""",
        {},
    ),
)
