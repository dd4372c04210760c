"""What columns are called elsewhere, in English and Chinese, and the words that people and judges use for labels."""

from __future__ import annotations

import re

#: Field -> the names that a column of it goes by; compared without case, spaces, dashes and underlines.
NAMES: dict[str, str] = {
    "case_id": "case_id id case caseid sample_id item_id row_id uid uuid 编号 序号 用例id 用例编号 样本id 样本编号 案例id",
    "prompt": "prompt user_prompt input_prompt text_prompt instruction caption query question text 提示词 用户提示词 指令 "
    "用户prompt 问题 文本 描述 输入 输入文本",
    "input_images": "input_images input_image source_image source_images source_url source_urls reference_image "
    "reference_images ref_images init_image condition_images 输入图 输入图片 输入图像 参考图 参考图片 原图 源图",
    "result_image": "result_image output_image generated_image result_url image_url image image_path img picture file_name "
    "result output_url video video_url result_video output_video generated_video 效果图 结果图 生成图 生成图片 结果图片 "
    "输出图 输出图片 图片 图像 视频 生成视频",
    "actual_output": "actual_output output response answer 实际输出 模型输出 回答 输出",
    "expected_output": "expected_output expected reference_output ground_truth 期望输出 预期输出 参考答案 标准答案",
    "retrieval_context": "retrieval_context context contexts 上下文 检索上下文 召回内容",
    "generator": "generator generator_name generation_model model_name model t2i_model 生成模型 模型 模型名称 生成器",
    "tags": "tags case_tags category categories 标签集 分类 类别",
    "split": "split subset 数据划分 划分",
    "judge": "judge judge_name judge_model evaluator evaluator_name rater_model autorater 评委 裁判 裁判模型 评估器 评测模型",
    "run": "run run_id run_name 轮次 第几次",
    "metric": "metric metric_name 指标",
    "aspect": "aspect dimension 维度 评估维度",
    "score": "score judge_score final_score score01 overall_score overall rating_score 得分 评分 分数 总分 打分",
    "judge_label": "judge_label verdict judgement judgment prediction predicted_label pred pass passed is_passed success "
    "结论 判断 评估结果 评测结果 机评结果 模型判断",
    "reason": "reason reasoning rationale explanation judge_reason feedback 理由 原因 推理过程 评分理由 推理 解释",
    "items": "sub_scores subscores 子分数 分项得分",
    "status": "status judge_status",
    "problem": "problem error error_message",
    "threshold": "threshold 阈值",
    "reviewer": "reviewer rater annotator annotator_id labeler labeller user worker annotated_by completed_by 标注人 标注员 "
    "审核员 审核人 评审 评审人 评测员",
    "human_label": "human_label human_verdict gold gold_label annotation human_annotation final_label 人工标签 人工标注 "
    "人工结果 人工结论 标注结果 标注 人评结果 审核结果 人工判断 是否可用",
    "human_bad": "is_badcase badcase is_bad human_bad 是否badcase 是否不可用",
    "human_score": "human_score human_rating 人工打分 人工评分 人工得分",
    "comment": "comment comments note notes remark human_comment 备注 评论 说明 批注",
    "human_tags": "human_tags badcase_tags issue_tags 问题标签 问题类型",
    "labelled": "labelled labeled_at labelled_at annotated_at created_at timestamp time 标注时间 时间",
}  # fmt: skip

#: Endings of a column that names a judge or a person first: gpt4o_score, rater1.label, 标注员1-结论.
_VERDICT_ENDINGS = {
    "score": "score score01 得分 评分 分数 总分 o overall",
    "judge_label": "label verdict prediction pred judgement judgment 标签 结论 判断 结果",
    "judge_bad": "bad badcase is_bad isbad",
    "reason": "reason reasoning rationale explanation 理由 原因 推理过程 推理",
}
_LABEL_ENDINGS = {
    "human_label": "label verdict annotation 标签 结论 标注 结果 判断",
    "human_bad": "bad badcase is_bad isbad",
    "human_score": "score rating 评分 打分 得分 分数",
    "comment": "comment note remark reason 备注 评论 理由 说明",
    "human_tags": "tags 问题 问题标签",
}
_PERSON = re.compile(
    r"(rater|annotator|reviewer|labell?er|human|expert|worker|person|people|人工|标注员?|标注人|审核员?|评审|评测员|专家)"
    r"[\W_]*\w{0,3}|r\d{1,3}",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?P<who>.+?)[\s_./|\-]+((?P<item>item:.+)|(?P<key>(SC|PQ)[._].+))")
_SEPARATOR = re.compile(r"[\s_./:：|\-]+")

_LABELS = {
    "usable": "usable good ok okay pass passed yes y true t 1 accept accepted correct 可用 通过 合格 是 好 正确 对 满意 好图",
    "badcase": "badcase bad bad_case unusable not_usable fail failed no n false f 0 reject rejected incorrect wrong 不可用 "
    "不通过 未通过 不合格 否 坏 错误 错 差 不好 不满意 坏图 废图",
    "unsure": "unsure maybe uncertain unclear dont_know skip 不确定 不清楚 待定 无法判断",
}


def plain_name(name: str) -> str:
    """A column's name to compare: without case, spaces, dashes, dots and underlines.

    >>> plain_name("User Prompt"), plain_name("user_prompt")
    ('userprompt', 'userprompt')
    """
    return _SEPARATOR.sub("", name.casefold())


_BY_NAME = {plain_name(word): field for field, words in NAMES.items() for word in (field, *words.split())}
_VERDICT_WORDS = {plain_name(word): field for field, words in _VERDICT_ENDINGS.items() for word in words.split()}
_LABEL_WORDS = {plain_name(word): field for field, words in _LABEL_ENDINGS.items() for word in words.split()}
_BY_WORD = {plain_name(word): label for label, words in _LABELS.items() for word in words.split()}


def field_named(name: str) -> str:
    """The field that a column of that name is, without looking at its cells; empty if the name says nothing."""
    return _BY_NAME.get(plain_name(name), "")


def is_known(name: str) -> bool:
    """Whether a column's name says what it is."""
    return bool(field_named(name) or of_somebody(name))


def is_person(name: str) -> bool:
    """Whether a name is that of somebody who labels: rater1, annotator_b, 标注员2."""
    return bool(_PERSON.fullmatch(name.strip()))


def of_somebody(name: str) -> tuple[str, str] | None:
    """(field, name of the judge or person) of a column such as gpt4o.score, r1_bad, rater 2, 标注员1-备注, item:KEY@gpt4o.

    >>> of_somebody("GPT-4o.score"), of_somebody("rater1_label"), of_somebody("annotator 2"), of_somebody("colour")
    (('score', 'GPT-4o'), ('human_label', 'rater1'), ('human_label', 'annotator 2'), None)
    """
    field, at, who = name.partition("@")
    if at and who and field:
        return field, who
    if item := _ITEM.fullmatch(name):
        who, key = item["who"], item["item"] or f"item:{item['key']}"
        return (f"human_{key}" if is_person(who) else key), who
    for found in reversed(list(_SEPARATOR.finditer(name))):
        who, ending = name[: found.start()].strip(), name[found.end() :]
        if not who or not ending:
            continue
        words = _LABEL_WORDS if is_person(who) else _VERDICT_WORDS
        if plain_name(ending) in words:
            return words[plain_name(ending)], who
    return ("human_label", name.strip()) if is_person(name) and not field_named(name) else None


def label_from(cell: str) -> str | None:
    """usable, badcase or unsure, however a cell says it; None if it says something else.

    >>> label_from("可用"), label_from("0"), label_from("Bad case"), label_from("3.5")
    ('usable', 'badcase', 'badcase', None)
    """
    word = plain_name(cell)
    if word in ("10", "00"):  # 1.0 and 0.0, as spreadsheets write whole numbers
        word = word[0] if "." in cell else word
    return _BY_WORD.get(word)
