"""/v1/me, /v1/members, /v1/invitations and /v1/sign-in-settings."""

from __future__ import annotations

from django.middleware.csrf import get_token
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from backend.accounts.bodies import EndMadeQuerySerializer, MadeThingsSerializer, made_things_body
from backend.api.bodies import page_of, parsed, parsed_query
from backend.api.conditional_views import IF_MATCH, ConditionalView
from backend.api.idempotency import idempotent
from backend.api.listing import ListQuerySerializer, list_query
from backend.api.pagination import PAGE_PARAMETERS, page
from backend.api.problems import Problem
from backend.api.public_ids import decode, encode
from backend.api.views import AuthenticatedView, TenantView
from backend.people import queries, sessions
from backend.people.authentication import PersonAuthentication
from backend.people.bodies import (
    InvitationRequestSerializer,
    InvitationSerializer,
    InvitationWithLinkSerializer,
    MemberSerializer,
    MemberUpdateRequestSerializer,
    MeSerializer,
    SignInSettingsRequestSerializer,
    SignInSettingsSerializer,
    invitation_body,
    invitation_with_link_body,
    me_body,
    member_bodies,
    sign_in_settings_body,
)
from backend.people.models import Membership, Person, Role
from backend.people.services import invitations, members, sign_in
from backend.tenancy import makers
from backend.tenancy.authentication import Principal
from backend.tenancy.keys import ALL_SCOPES, ANYBODY

TAGS = ["Members"]


def by_owner(caller: Principal) -> bool:
    """Whether a caller decides about owners: an owner, or a key that may do everything."""
    return caller.role == Role.OWNER if caller.person_id else ALL_SCOPES in caller.scopes


class MeView(AuthenticatedView):
    scopes = {"GET": ANYBODY}
    authentication_classes = (PersonAuthentication,)
    permission_classes = ()

    @extend_schema(operation_id="getMe", responses=MeSerializer, tags=TAGS)
    def get(self, request: Request) -> Response:
        """Return the signed-in person and the tenants that the session reaches. Needs a browser session."""
        person = request.user
        if not isinstance(person, Person):
            raise NotAuthenticated("Sign in at /accounts/login/.")
        # A page asks here first, so it gets the cookie whose value unsafe requests repeat.
        get_token(request._request)
        rows = [row for row in queries.memberships_of(person.id) if sessions.reaches(request, row)]
        return Response(
            me_body(person, rows, second_factor=sessions.second_factor_is_set_up(person)),
            headers={"Cache-Control": "no-store"},
        )


class MembersView(TenantView):
    scopes = {"GET": "members:read"}

    @extend_schema(
        operation_id="listMembers",
        parameters=[ListQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("MemberPage", MemberSerializer),
        tags=TAGS,
    )
    def get(self, request: Request) -> Response:
        """List the members of the tenant, newest first."""
        _, wish = list_query(ListQuerySerializer, request)
        return page(request, wish.of(queries.members()), serialize_many=member_bodies, order=wish.order)


class MemberView(ConditionalView):
    scopes = {"GET": "members:read", "PATCH": "members:write", "DELETE": "members:write"}
    audited = {"PATCH": "member.changed", "DELETE": "member.removed"}
    changed_by = MemberUpdateRequestSerializer

    def _member(self, member_id: str) -> Membership:
        return self.get_or_404(queries.members(), decode("mem", member_id))

    @extend_schema(operation_id="getMember", responses=MemberSerializer, tags=TAGS)
    def get(self, request: Request, member_id: str) -> Response:
        """Return one member."""
        return Response(member_bodies([self._member(member_id)])[0])

    @extend_schema(
        operation_id="updateMember",
        parameters=[IF_MATCH],
        request=MemberUpdateRequestSerializer,
        responses=MemberSerializer,
        tags=TAGS,
    )
    def patch(self, request: Request, member_id: str) -> Response:
        """Change the role or the collections of a member. Only owners decide about owners, and one always stays."""
        member = self._member(member_id)
        body = parsed(MemberUpdateRequestSerializer, request)
        changed = members.change(
            member.id,
            role=body.get("role"),
            collection_ids=body.get("collection_ids"),
            limits_given="collection_ids" in body,
            by_owner=by_owner(self.principal),
            caller=self.principal,
        )
        self.audit_details = {
            "before": member.role,
            "role": changed.role,
            "limited": changed.collection_ids is not None,
        }
        return Response(member_bodies([changed])[0])

    @extend_schema(operation_id="deleteMember", parameters=[EndMadeQuerySerializer], responses={204: None}, tags=TAGS)
    def delete(self, request: Request, member_id: str) -> Response:
        """Remove a member. The next request is refused and open streams end. The last owner cannot be removed.

        The keys and open invitations that the member made end. Webhook endpoints and shares go on unless you send
        `end_made`; `GET /v1/members/{member_id}/made` lists them.
        """
        removed = members.remove(
            self._member(member_id).id,
            by_owner=by_owner(self.principal),
            ends_made_by=self.principal if parsed_query(EndMadeQuerySerializer, request)["end_made"] else None,
        )
        self.audit_details = removed.details
        return Response(status=204)


class MadeByMemberView(TenantView):
    scopes = {"GET": "members:read"}

    @extend_schema(operation_id="listMadeByMember", responses=MadeThingsSerializer, tags=TAGS)
    def get(self, request: Request, member_id: str) -> Response:
        """List what acts for a member: keys, open invitations, webhook endpoints and shares that have not ended.

        At most 1,000 of each kind, the newest first, with those of the keys that the member made.
        """
        member = self.get_or_404(queries.members(), decode("mem", member_id))
        maker = makers.person(member.person_id)
        return Response(made_things_body([*makers.keys_made_by(maker), *makers.made_by(maker)]))


class MemberSessionsView(TenantView):
    scopes = {"DELETE": "members:write"}
    audited = {"DELETE": "member.sessions_ended"}

    @extend_schema(operation_id="deleteMemberSessions", responses={204: None}, tags=TAGS)
    def delete(self, request: Request, member_id: str) -> Response:
        """End the sessions of a member in this tenant; the membership stays.

        The next request of an open session is refused (403 `session_ended`) and open streams end, until the person
        signs in again. The person's sessions in other tenants and the keys that the member made go on.
        """
        member = self.get_or_404(queries.members(), decode("mem", member_id))
        ended = members.end_sessions(member.id, by_owner=by_owner(self.principal))
        self.audit_details = {"person_id": encode("per", ended.person_id)}
        return Response(status=204)


class LeaveView(TenantView):
    """A member's own membership, which any member may end."""

    scopes = {"DELETE": ANYBODY}
    audited = {"DELETE": "member.left"}

    @extend_schema(operation_id="leaveTenant", parameters=[EndMadeQuerySerializer], responses={204: None}, tags=TAGS)
    def delete(self, request: Request) -> Response:
        """Leave the tenant that the request names. The last owner cannot leave. Needs a browser session.

        The keys and open invitations that you made end. Webhook endpoints and shares go on unless you send `end_made`.
        """
        person_id = self.principal.person_id
        mine = None if person_id is None else queries.members().filter(person_id=person_id).first()
        if mine is None:
            raise Problem(403, "members_only", "A key has no membership to end.")
        ends_made = parsed_query(EndMadeQuerySerializer, request)["end_made"]
        removed = members.remove(mine.id, by_owner=True, ends_made_by=self.principal if ends_made else None)
        self.audit_details = removed.details
        return Response(status=204)


class InvitationsView(TenantView):
    scopes = {"GET": "members:read", "POST": "members:write"}
    audited = {"POST": "invitation.created"}

    @extend_schema(
        operation_id="listInvitations",
        parameters=[ListQuerySerializer, *PAGE_PARAMETERS],
        responses=page_of("InvitationPage", InvitationSerializer),
        tags=TAGS,
    )
    def get(self, request: Request) -> Response:
        """List invitations, newest first. Accepted, revoked and expired invitations are in the list."""
        _, wish = list_query(ListQuerySerializer, request)
        return page(request, wish.of(queries.invitations()), serialize=invitation_body, order=wish.order)

    @extend_schema(
        operation_id="createInvitation",
        request=InvitationRequestSerializer,
        responses={201: InvitationWithLinkSerializer},
        tags=TAGS,
    )
    @idempotent(secret=True)
    def post(self, request: Request) -> Response:
        """Invite the holder of an e-mail address for 7 days. An earlier open invitation of the address ends."""
        body = parsed(InvitationRequestSerializer, request)
        invitation, url = invitations.invite(
            **body,
            by_person=self.principal.person_id,
            by_name=self.principal.name,
            by_owner=by_owner(self.principal),
            caller=self.principal,
        )
        self.audit_details = {"email": invitation.email, "role": invitation.role}
        headers = {"Location": f"/v1/invitations/{encode('inv', invitation.id)}", "Cache-Control": "no-store"}
        return Response(invitation_with_link_body(invitation, url), status=201, headers=headers)


class InvitationView(TenantView):
    scopes = {"GET": "members:read", "DELETE": "members:write"}
    audited = {"DELETE": "invitation.revoked"}

    @extend_schema(operation_id="getInvitation", responses=InvitationSerializer, tags=TAGS)
    def get(self, request: Request, invitation_id: str) -> Response:
        """Return one invitation without its link."""
        return Response(invitation_body(self.get_or_404(queries.invitations(), decode("inv", invitation_id))))

    @extend_schema(operation_id="revokeInvitation", responses={204: None}, tags=TAGS)
    def delete(self, request: Request, invitation_id: str) -> Response:
        """Revoke an invitation; its link stops working. An accepted invitation stays accepted."""
        invitations.revoke(self.get_or_404(queries.invitations(), decode("inv", invitation_id)).id)
        return Response(status=204)


class SignInSettingsView(ConditionalView):
    scopes = {"GET": "members:read", "PATCH": "members:write"}
    audited = {"PATCH": "sign_in_settings.changed"}
    changed_by = SignInSettingsRequestSerializer

    @extend_schema(operation_id="getSignInSettings", responses=SignInSettingsSerializer, tags=TAGS)
    def get(self, request: Request) -> Response:
        """Return how members sign in: the second factor, and the tenant's OpenID Connect provider."""
        return Response(sign_in_settings_body(queries.sign_in_settings(), self.principal.tenant_id))

    @extend_schema(
        operation_id="updateSignInSettings",
        parameters=[IF_MATCH],
        request=SignInSettingsRequestSerializer,
        responses=SignInSettingsSerializer,
        tags=TAGS,
    )
    def patch(self, request: Request) -> Response:
        """Change how members sign in. Only owners may: a provider can sign in as any member."""
        if not by_owner(self.principal):
            raise Problem(403, "owners_only", "Only an owner changes how members sign in.")
        body = parsed(SignInSettingsRequestSerializer, request)
        row = sign_in.save_settings(body)
        self.audit_details = {"fields": sorted(body)}
        return Response(sign_in_settings_body(row, self.principal.tenant_id))


routes = [
    path("me", MeView.as_view()),
    path("me/membership", LeaveView.as_view()),
    path("members", MembersView.as_view()),
    path("members/<str:member_id>", MemberView.as_view()),
    path("members/<str:member_id>/made", MadeByMemberView.as_view()),
    path("members/<str:member_id>/sessions", MemberSessionsView.as_view()),
    path("invitations", InvitationsView.as_view()),
    path("invitations/<str:invitation_id>", InvitationView.as_view()),
    path("sign-in-settings", SignInSettingsView.as_view()),
]
