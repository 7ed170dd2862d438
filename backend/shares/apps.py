from django.apps import AppConfig


class SharesConfig(AppConfig):
    name = "backend.shares"
    label = "shares"

    def ready(self) -> None:
        from backend.library.services.deletion_ledger import Deleted
        from backend.library.services.ended_rights import register_repeat
        from backend.shares import queries
        from backend.shares.services import links
        from backend.tenancy import makers

        makers.register(makers.Kind("share", "shr", "shares:write", queries.made_by, links.revoke_all))
        register_repeat(Deleted.SHARE, links.revoke_again)
