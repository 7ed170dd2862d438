from django.apps import AppConfig


class QuestionsConfig(AppConfig):
    name = "backend.questions"
    label = "questions"

    def ready(self) -> None:
        from backend.jobs.control import register_revival
        from backend.jobs.models import JobKind
        from backend.questions.services import control, searches

        register_revival(JobKind.ANSWER_QUESTION, control.revive)
        register_revival(JobKind.SEARCH_EVENTS, searches.revive)
