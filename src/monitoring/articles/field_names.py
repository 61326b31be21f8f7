"""The meaning of field names in a submission.

Fields with unlisted names are stored and passed on to the site.

Publishers use many names for the same thing. If a name is not recognized, a text may stay in English, or a
draft may be published. The tables list each name as separate words, followed by the publishers that use it,
or by "the document" for the OpenAPI document. `body html` stands for `body_html`, `body-html`, `bodyHtml`,
`bodyHTML` and `BodyHtml`. The OpenAPI document restricts some of these fields under `patternProperties`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ABBREVIATIONS = frozenset({"html", "md"})


def _spell(table: str) -> Iterator[str]:
    """Yield each name in the first column of `table` in all spellings, such as `body_html` and `bodyHtml`."""
    for line in filter(None, map(str.strip, table.splitlines())):
        first, *others = words = re.split(r"\s{2,}", line)[0].split()
        camel = "".join(map(str.capitalize, others))
        shouted = "".join(word.upper() if word in _ABBREVIATIONS else word.capitalize() for word in others)
        spellings = [first + camel, first + shouted, first.capitalize() + camel]
        spellings += [first.upper()] * (first in _ABBREVIATIONS and not others)
        yield from dict.fromkeys(("_".join(words), "-".join(words), *spellings))


# The article's text as Markdown.
MARKDOWN_TEXTS = tuple(
    _spell("""
        content markdown      the document, Outrank, SEOcraftAI, Hashnode
        body markdown         DEV and Forem
        markdown              Hashnode's `content`, Medium's API
        markdown content
        markdown body
        text markdown
        raw markdown
        article markdown
        post markdown
        content md
        body md
        md
        mdx
    """)
)
# The article's text as HTML.
HTML_TEXTS = (
    *_spell("""
        content html          the document, Outrank, SEOcraftAI, JSON Feed
        body html             Shopify, DEV and Forem, Substack
        html                  Ghost, blogAIzer, Hashnode's `content`
        html content
        html body
        text html
        raw html
        article html
        post html
        description html      Shopify
        post body             Webflow
        post content          WordPress
    """),
    "content:encoded",  # RSS, Medium's feed
)
# The article's text in the format that `format` names, or else in the detected format.
OTHER_TEXTS = tuple(
    _spell("""
        content               the document, BlogSEO
        body                  Strapi, Contentful, Sanity
        text                  Strapi
        content text          JSON Feed
        plaintext             Ghost
        plain text
        article body          schema.org
        article content
        article text
        blog body
        blog content
        blog post
        body content
        body text
        content body
        full content
        full text
        main content
        main text
        page content
        post text
        raw content
        text content
        rich content
        rich text             Contentful, Webflow
        rendered              WordPress
    """)
)
TEXTS = frozenset((*MARKDOWN_TEXTS, *HTML_TEXTS, *OTHER_TEXTS))

# The headline, in order of preference.
TITLES = tuple(
    _spell("""
        title                 the document
        headline              schema.org
        post title            WordPress
        article title
        blog title
        page title
        heading
    """)
)

# The article's address on the publisher's site, in order of preference.
ADDRESSES = tuple(
    _spell("""
        canonical url         Forem, Ghost, Hashnode
        url                   Ghost, JSON Feed
        permalink             Jekyll
        link                  WordPress, RSS
    """)
)

# Tags, in order of preference.
TAGS = tuple(
    _spell("""
        tags                  the document
        tag list              DEV and Forem
    """)
)

# The publisher's own translations of the article. If they are a list, the locale of each translation is in
# one of the fields `LOCALES`.
OWN_TRANSLATIONS = tuple(
    _spell("""
        translations          the document, Directus
        localizations         Strapi
    """)
)
LOCALES = tuple(
    _spell("""
        locale                the document, Strapi
        language
        lang                  Polylang, Storyblok
        language code
        languages code        Directus
    """)
)

# The publication time, for exports. Of these fields, only `published_at` affects the order of submissions.
PUBLICATION_TIMES = tuple(
    _spell("""
        published at          the document, Ghost, Hashnode
        date published        JSON Feed, schema.org
        first published at    Storyblok, Medium
        publication date
        publish date
        published date
        pub date              RSS
        post date             WordPress
        published             Atom, Blogger
        date                  Hugo, Jekyll, WordPress
    """)
)

# Fields that may be long but are not the article's text.
OTHER_WORDS = frozenset(
    _spell("""
        excerpt               the document
        summary               Atom, Contentful
        description           RSS
        subtitle
        meta title
        meta description      the document
        og title
        og description        Ghost
        twitter title
        twitter description   Ghost
        seo                   the document
        images                the document
        main image            the document
        main image url        the document
        website               the document
        keyword               the document
        keywords
        categories
        author
        authors
        slug                  the document
        id                    the document
        url
        timestamp             the document
    """)
).union(OWN_TRANSLATIONS)

# The event, in a field next to `article`. Only `event`, `status` and `article.status` can delete an article.
EVENTS = tuple(
    _spell("""
        event                 the document, SEOcraftAI
        event type            Outrank, DatoCMS, Hashnode
        event name
        event action
        webhook event
        webhook action
        webhook topic
        hook event
        action                Storyblok
    """)
)
# More names for the event. Publishers also use these names for other things, so a value counts as an event
# only if all its words are event words.
PERHAPS_EVENTS = tuple(
    _spell("""
        type                  Prismic, envelopes of events
        topic                 Contentful, Shopify
        trigger
        trigger type          Webflow
        operation             Hygraph
        stage                 Hygraph
        change type
        message type
        webhook type
        method
        kind
        hook
    """)
)
# The article's state, inside `article` or next to it.
STATES = (
    *_spell("""
        status                the document, Ghost, WordPress
        state                 Forem, Drupal
        post status           WordPress
        post state
        article status
        article state
        content status
        content state
        entry status
        entry state
        publication status
        publication state     Strapi
        publish status        Medium
        publish state
        publishing status
        publishing state
        workflow status
        workflow state
        moderation status
        moderation state      Drupal
        visibility            Ghost
        post visibility
    """),
    "_status",  # Payload
)

# Flags that withdraw the article if they are `false`. The first two may contain the publication time instead.
SHOWING_FLAGS = tuple(
    _spell("""
        published             DEV and Forem
        publish
        is published
        public
        is public
        visible
        is visible
        live
        is live
        active
        is active
        enabled
        is enabled
        listed
        is listed
        approved
        is approved
    """)
)
# Flags that withdraw the article if they are `true`.
HIDING_FLAGS = (
    *_spell("""
        draft                 Hugo, Jekyll
        is draft              Webflow, Hashnode
        archived              Notion
        is archived           Webflow
        private
        is private
        hidden
        is hidden
        unpublished
        is unpublished
        unlisted              Medium
        is unlisted
        trashed
        is trashed
        in trash              Notion
        members only
        password protected
        deleted
        is deleted
        removed
        is removed
    """),
    *("_draft", "_archived", "_deleted"),  # Webflow before 2023
)
# Times that withdraw the article if they are set.
HIDING_TIMES = tuple(
    _spell("""
        archived at
        trashed at
        deleted at            Laravel, Directus
    """)
)
# Flags next to `article` that mark the submission as a test if they are `true`.
TEST_FLAGS = tuple(
    _spell("""
        test
        is test
    """)
)

# Fields for the article's state, which are not part of its content.
PUBLISHING_FIELDS_OF_ARTICLE = frozenset((*STATES, *SHOWING_FLAGS, *HIDING_FLAGS, *HIDING_TIMES))
PUBLISHING_FIELDS = PUBLISHING_FIELDS_OF_ARTICLE.union(EVENTS, PERHAPS_EVENTS, TEST_FLAGS)
