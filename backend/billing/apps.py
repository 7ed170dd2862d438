from django.apps import AppConfig


class BillingConfig(AppConfig):
    name = "backend.billing"
    label = "billing"
