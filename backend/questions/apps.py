from django.apps import AppConfig


class QuestionsConfig(AppConfig):
    name = "backend.questions"
    label = "questions"

    def ready(self) -> None:
        from backend.api.tenant_stream import Topic, register_topic
        from backend.jobs.control import Subject, register_subject
        from backend.jobs.models import JobKind
        from backend.questions.models import Question
        from backend.questions.services import control, searches

        register_topic(Topic("questions", "question", "qst", "questions:read", Question.objects.all))
        register_subject(JobKind.ANSWER_QUESTION, Subject(control.revive, control.cancel))
        register_subject(JobKind.SEARCH_EVENTS, Subject(searches.revive, searches.cancel))
