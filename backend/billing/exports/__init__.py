"""Exports of usage and invoices to billing systems outside: Stripe, Lago and OpenMeter."""
