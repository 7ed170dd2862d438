from django.apps import AppConfig


class QuestionsConfig(AppConfig):
    name = "backend.questions"
    label = "questions"

    def ready(self) -> None:
        from backend.jobs.control import Subject, register_subject
        from backend.jobs.models import JobKind
        from backend.questions.services import control, searches

        register_subject(JobKind.ANSWER_QUESTION, Subject(control.revive, control.cancel))
        register_subject(JobKind.SEARCH_EVENTS, Subject(searches.revive, searches.cancel))
