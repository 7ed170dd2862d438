from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "backend.people"
    label = "people"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from backend.people import account_log
        from backend.people.authentication import ended_members
        from backend.people.queries import notice_addresses
        from backend.people.services.invitations import mail_of
        from backend.tenancy.authentication import register_endings
        from backend.webhooks import notices, recipients

        register_endings(ended_members)
        recipients.register(notice_addresses)
        notices.register(mail_of)
        account_log.connect()
