from django.apps import AppConfig


class SharesConfig(AppConfig):
    name = "backend.shares"
    label = "shares"

    def ready(self) -> None:
        from backend.library.services.deletion_ledger import Deleted
        from backend.library.services.ended_rights import register_repeat
        from backend.shares.services.links import revoke_again

        register_repeat(Deleted.SHARE, revoke_again)
