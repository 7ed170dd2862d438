"""Answering a question from the Event Knowledge Graph (AVA, section 5). answer_question() is the one way in."""

from gpu_workers.engine.answering.answer_question import answer_question
from gpu_workers.engine.answering.contract import Answer, Budget, QuestionInput

__all__ = ["Answer", "Budget", "QuestionInput", "answer_question"]
