from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "backend.people"
    label = "people"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from backend.api.monitoring import chores
        from backend.library.services.deletion_ledger import Deleted
        from backend.library.services.ended_rights import register_repeat
        from backend.people import account_log
        from backend.people.authentication import ended_members, member_standing
        from backend.people.queries import made_by, notice_addresses
        from backend.people.services import invitations, members
        from backend.people.services.departures import erase_departed
        from backend.tenancy import makers
        from backend.tenancy.authentication import register_endings, register_standing
        from backend.webhooks import notices, recipients

        register_endings(ended_members)
        register_standing(member_standing)
        recipients.register(notice_addresses)
        notices.register(invitations.mail_of)
        account_log.connect()
        makers.register(
            makers.Kind("invitation", "inv", "members:write", made_by, invitations.revoke_all, ends_with_maker=True)
        )
        chores.register(erase_departed)
        register_repeat(Deleted.MEMBER, members.remove_again)
        register_repeat(Deleted.INVITATION, invitations.revoke_again)
