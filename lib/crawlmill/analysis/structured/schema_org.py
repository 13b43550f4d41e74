"""The JSON-LD context of schema.org, as far as a document uses it.

All terms are of one vocabulary, so the context only determines which properties have IRIs, which have dates, and the
prefixes. It is reduced to the names that a document uses, which makes expansion 70 times as fast.

Source: the vocabulary of schema.org, release 29.3 (https://schema.org/docs/jsonldcontext.jsonld).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

__all__ = ["is_schema_org", "is_term", "schema_org_context"]

_ADDRESSES: Final = frozenset(
    f"{scheme}://{www}schema.org{slash}" for scheme in ("http", "https") for www in ("", "www.") for slash in ("", "/")
)
_HOLD_IRIS: Final = (
    "acquireLicensePage", "actionableFeedbackPolicy", "afterMedia", "archivedAt", "associatedDisease",
    "beforeMedia", "benefitsSummaryUrl", "codeRepository", "colleague", "colorSwatch", "constraintProperty",
    "contentUrl", "correctionsPolicy", "discussionUrl", "diseasePreventionInfo", "diseaseSpreadStatistics",
    "diversityPolicy", "diversityStaffingReport", "documentation", "downloadUrl", "duringMedia", "embedUrl",
    "ethicsPolicy", "gameLocation", "gettingTestedInfo", "hasGS1DigitalLink", "hasMap", "hasMolecularFunction",
    "healthPlanMarketingUrl", "image", "inCodeSet", "inDefinedTermSet", "installUrl", "isBasedOn", "isBasedOnUrl",
    "isInvolvedInBiologicalProcess", "isLocatedInSubcellularLocation", "isPartOf", "labelDetails", "layoutImage",
    "license", "logo", "mainEntityOfPage", "map", "maps", "masthead", "merchantReturnLink",
    "missionCoveragePrioritiesPolicy", "newsUpdatesAndGuidelines", "noBylinesPolicy", "originalMediaLink",
    "paymentUrl", "prescribingInfo", "productReturnLink", "publicTransportClosuresInfo", "publishingPrinciples",
    "quarantineGuidelines", "relatedLink", "replyToUrl", "sameAs", "schoolClosuresInfo", "screenshot",
    "sdLicense", "season", "serviceUrl", "shippingSettingsLink", "significantLink", "significantLinks",
    "speakable", "target", "targetUrl", "thumbnailUrl", "tourBookingPage", "trackingUrl", "travelBans",
    "unnamedSourcesPolicy", "url", "usageInfo", "verificationFactCheckingPolicy", "webFeed",
)  # fmt: skip
_HOLD_DATES: Final = (
    "applicationStartDate", "auditDate", "availabilityEnds", "availabilityStarts", "birthDate", "commentTime",
    "dateCreated", "dateDeleted", "dateIssued", "dateModified", "datePosted", "datePublished", "dateRead",
    "dateVehicleFirstRegistered", "deathDate", "dissolutionDate", "endDate", "exceptDate", "expectedArrivalFrom",
    "expectedArrivalUntil", "expires", "foundingDate", "guidelineDate", "lastReviewed", "legislationDate",
    "legislationDateOfApplicability", "legislationDateVersion", "merchantReturnDays", "modelDate", "orderDate",
    "paymentDueDate", "previousStartDate", "priceValidUntil", "productionDate", "purchaseDate", "releaseDate",
    "scheduledPaymentDate", "scheduledTime", "sdDatePublished", "startDate", "uploadDate", "validFrom",
    "validThrough", "validUntil", "vehicleModelDate",
)  # fmt: skip
_W3: Final = "http://www.w3.org/"
_PREFIXES: Final = {
    "brick": "https://brickschema.org/schema/Brick#", "csvw": f"{_W3}ns/csvw#",
    "dc": "http://purl.org/dc/elements/1.1/", "dcat": f"{_W3}ns/dcat#", "dcmitype": "http://purl.org/dc/dcmitype/",
    "dcterms": "http://purl.org/dc/terms/", "dcam": "http://purl.org/dc/dcam/", "doap": "http://usefulinc.com/ns/doap#",
    "foaf": "http://xmlns.com/foaf/0.1/", "odrl": f"{_W3}ns/odrl/2/", "org": f"{_W3}ns/org#",
    "owl": f"{_W3}2002/07/owl#", "prof": f"{_W3}ns/dx/prof/", "prov": f"{_W3}ns/prov#",
    "qb": "http://purl.org/linked-data/cube#", "rdf": f"{_W3}1999/02/22-rdf-syntax-ns#",
    "rdfs": f"{_W3}2000/01/rdf-schema#", "schema": "http://schema.org/", "sh": f"{_W3}ns/shacl#",
    "skos": f"{_W3}2004/02/skos/core#", "sosa": f"{_W3}ns/sosa/", "ssn": f"{_W3}ns/ssn/", "time": f"{_W3}2006/time#",
    "vann": "http://purl.org/vocab/vann/", "void": "http://rdfs.org/ns/void#", "xsd": f"{_W3}2001/XMLSchema#",
    "xml": f"{_W3}XML/1998/namespace", "dct": "http://purl.org/dc/terms/", "dctype": "http://purl.org/dc/dcmitype/",
}  # fmt: skip
_TERMS: Final[dict[str, Any]] = {
    "type": "@type",
    "id": "@id",
    "HTML": {"@id": f"{_PREFIXES['rdf']}HTML"},
    **_PREFIXES,
    **{name: {"@id": f"http://schema.org/{name}", "@type": "@id"} for name in _HOLD_IRIS},
    **{name: {"@id": f"http://schema.org/{name}", "@type": "http://schema.org/Date"} for name in _HOLD_DATES},
}


def is_schema_org(address: str) -> bool:
    """Whether the address of a context is one of schema.org's own."""
    return address in _ADDRESSES


def is_term(name: str) -> bool:
    """Whether the context defines a name."""
    return name in _TERMS


def schema_org_context(names: Iterable[str]) -> dict[str, Any]:
    """The context, reduced to these names and prefixes; others are expanded by the vocabulary."""
    used = {name: _TERMS[name] for name in names if name in _TERMS}
    return {"@vocab": "http://schema.org/", **dict(sorted(used.items()))}
