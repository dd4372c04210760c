"""The other views: people, scores, thresholds, comparisons, groups, time."""

from pages.parts.methods.explained import Explained

EXPLAINED = (
    Explained(
        "people",
        "People among themselves: the ceiling",
        """
People disagree, too, and a judge can hardly agree with them more than they do with each other. On the cases that two
or more people labelled, every pair of people is compared, and the judge is compared with each *single* person, not
with their majority, which is less noisy than anybody. If the judge's kappa comes close to theirs, it agrees with a
reviewer about as much as reviewers agree with each other.

*Example.* Two people label 100 cases; both say badcase on 20, both usable on 65, and they differ on 15. They agree on
85 %, kappa **0.62**. A judge with 0.59 on these cases would be about at the ceiling; the interval of the difference
says how surely. All of it holds for this panel of reviewers.
""",
        {"too_few_units": "It takes cases that two people labelled. Let people overlap on some."},
    ),
    Explained(
        "alpha",
        "Krippendorff's alpha",
        """
Agreement of any number of people beyond chance, where not everybody labels everything. 1: always the same; 0: as
chance would have it; below 0: they contradict each other. For two people it is nearly kappa.

*Example.* The 100 cases above give alpha **0.63**. It is undefined where only one label was ever given, and without
cases that two people labelled.
""",
        {},
    ),
    Explained(
        "alternative-annotator",
        "Alternative annotator test",
        """
Could the judge stand in for one of the reviewers? Each reviewer in turn is compared with the judge: which of the two
is more often like the *other* people? The judge wins against a reviewer if it is surely not worse by more than ε, and
passes if it wins against at least half of them.

*Example.* ε = 0.15 lets the judge be like the others 15 points less often than the reviewer and still win; so ε
stands beside the result. It takes two people a case and 30 cases a reviewer.

Where one label is rare the test sees little. So a judge that always gives the more frequent label takes it, too.
""",
        {"constant_passes": "A judge that looks at nothing passes, so passing proves nothing on this mix of cases."},
    ),
    Explained(
        "scores",
        "Scores against people",
        """
*AUC*: of a usable case and a badcase drawn at random, how often the usable one has the higher score; 50 % is chance.
*Average precision*: flags that are right, averaged over all thresholds; compare it with the share of badcases, which
chance reaches. Both ask whether the scores put cases in the right order, whatever the threshold.

Where people gave scores: *bias* is the judge's score minus theirs on average, *MAE* how far off it is, whichever way.
*Spearman* and *Kendall* ask whether the order is the same, *Pearson* whether it lies on a line. *Ranking within a
prompt*: of two pictures of one prompt that people ranked, how often the judge ranks them likewise; a tie counts half.

*Example.* AUC 0.80: in four of five such pairs the usable one scores higher.
""",
        {
            "constant_input": "Without different scores there is no order to compare.",
            "no_pairs": "It takes two pictures of one prompt to which people gave different scores.",
        },
    ),
    Explained(
        "thresholds",
        "Thresholds, and held-out figures",
        """
The threshold decides from which score on a case is usable. For each possible one the sweep shows what would be found
and passed. The best on the labels at hand, by Youden (found + passed), accuracy or cost, fits these cases by luck,
too, and will do worse on new ones: chosen on 100 labels, accuracy looks 2.7 points too high.

So what is shown for a tuned threshold is **held out**: the prompts are dealt into ten parts; for each part the
threshold is chosen on the other nine and tried on it. *Example.* In place of 90.1 % on the labels that chose it, 87.4
% on labels that did not.
""",
        {},
    ),
    Explained(
        "comparing",
        "Comparing runs",
        """
Two judges are compared on the same labelled cases. Only the cases that tell them apart matter: those on which one is
right and the other wrong.

*Example.* On 300 common cases run 2 alone is right on 30, run 1 alone on 15. Run 2 agrees with people **5.0 points
[0.6–9.4]** more often; by chance alone so uneven a split would come up in 2.6 % of cases (McNemar's test, mid-p).
With no case that tells them apart there is nothing to compare.

Of several comparisons some come out by luck. Those that were planned with the current judge are adjusted by Holm's
method, those found while exploring by Benjamini and Hochberg's, and marked exploratory. The best of ten equal judges
looks 4 points better than it is on 100 cases: confirm the winner on new labels.
""",
        {},
    ),
    Explained(
        "groups",
        "Small groups, and exploring",
        """
By generator, tag, length and so on: the same figures on fewer cases. Groups with fewer than 30 labels are marked
small. One of 20 intervals misses the truth by chance alone, so where many groups are looked at, one will stand out
without reason: among 20 that is so in 64 % of cases. Such views are marked **exploratory**: they give ideas to test
on new labels, no findings. For the same reason the worst question or group is never announced.

*The ranking of generators* shows for each the places that it may have, given how well its usable rate is known. “1–3”
means: the best, or one or two may be better.
""",
        {},
    ),
    Explained(
        "over-time",
        "Over time: windows and the alarm",
        """
Within one run the labels are cut into windows of at least 50, in the order in which they came. A smoothed figure
(EWMA) follows them: a fifth the new window, four fifths what it was before. It is compared with the first 300 labels;
outside its limits it gives an alarm. An alarm is a reason to look at that window, not a result: without any change
there is one in some 230 windows.

*Example.* The first 300 labels agree on 88 %. Then 44, 42, 38 and 36 of 50 agree: the smoothed figure goes 88.0,
87.2, 85.0, 82.4 %, and the fourth is below the limit of 84.2 %. With fewer than 300 labels there is no baseline and
no alarm.

Another prompt, judge or threshold is another run: nothing is pooled or joined by a line across runs.
""",
        {},
    ),
    Explained(
        "steadiness",
        "The judge against itself",
        """
A judge that is asked the same again may answer otherwise. Where a run was repeated, the page shows on how many cases
all measurements gave the same label, and how much scores scatter. *Example.* 95 of 100 cases got the same label all
three times. Repeats are not further cases: they never make an interval narrower. The interval of the share of equal
labels counts prompts, as all do.
""",
        {},
    ),
)
