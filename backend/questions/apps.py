from django.apps import AppConfig


class QuestionsConfig(AppConfig):
    name = "backend.questions"
    label = "questions"
