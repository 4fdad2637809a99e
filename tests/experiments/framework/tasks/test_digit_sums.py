from grpo_ref.experiments.framework.tasks.digit_sums import label, learning


def test_an_arm_is_named_by_its_prompts_and_completions():
    one = learning(8, 32)
    assert (one.settings["group_size"], one.settings["prompts"]) == (8, 32)
    assert label(8, 32) == "32 prompts x 8"


def test_one_answer_in_121_is_right():
    task = learning(2, 16).settings["task"](**learning(2, 16).settings["task_options"])
    assert len(task.prompts) == 16
    assert (len(task.vocabulary), task.max_length) == (11, 2)
