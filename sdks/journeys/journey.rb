# frozen_string_literal: true

# A monitor's life and an article's way, through openapi-generator's Ruby SDK.

require "json"
require "monitoring"
require "securerandom"
require "uri"

def configuration
  Monitoring::Configuration.new do |config|
    base_url = URI(ENV.fetch("BASE_URL"))
    config.scheme = base_url.scheme
    config.host = "#{base_url.host}:#{base_url.port}"
    yield config if block_given?
  end
end

def check(holds, promise)
  raise promise unless holds
end

def expect(status, sentence)
  yield
  raise "no error: #{sentence}"
rescue Monitoring::ApiError => e
  check e.code == status, "the status is #{status}, not #{e.code}"
  check JSON.parse(e.response_body)["error"] == sentence, "it says: #{sentence}"
end

def live_a_monitors_life
  auth = Monitoring::AuthApi.new(Monitoring::ApiClient.new(configuration))
  token = auth.issue_token(client_id: ENV.fetch("CLIENT_ID"), client_secret: ENV.fetch("CLIENT_SECRET"))
  settings = configuration { |config| config.access_token = token.access_token }
  monitors = Monitoring::MonitorsApi.new(Monitoring::ApiClient.new(settings))

  ids = Array.new(3) do |number|
    wanted = Monitoring::MonitorCreate.new(url: "https://shop.example.com/#{number}", tags: ["shop"])
    key = SecureRandom.uuid
    created = monitors.create_monitor(wanted, idempotency_key: key)
    check created == monitors.create_monitor(wanted, idempotency_key: key), "a repeated request acts once"
    check created.status == Monitoring::MonitorStatus::PENDING, "a new monitor is pending"
    check created.interval_seconds == 300, "the interval has its default"
    created.id
  end

  first, _, headers = monitors.get_monitor_with_http_info(ids[0])
  slower = Monitoring::MonitorUpdate.new(interval_seconds: 600)
  changed = monitors.update_monitor(ids[0], slower, if_match: headers["ETag"])
  check changed.interval_seconds == 600, "the change is made"
  check changed.tags == first.tags, "what is left out stays"
  by_default = monitors.update_monitor(ids[0], Monitoring::MonitorUpdate.new(interval_seconds: nil))
  check by_default.interval_seconds == 300, "null is the default again"
  expect(412, "Monitor has changed") { monitors.delete_monitor(ids[0], if_match: headers["ETag"]) }

  check list_ids(monitors) == ids.reverse, "the pages hold every monitor"

  ids.each { |id| monitors.delete_monitor(id) }
  expect(404, "Monitor not found") { monitors.get_monitor(ids[0]) }
end

def list_ids(monitors)
  ids = []
  query = { limit: 2 }
  loop do
    page = monitors.list_monitors(query)
    ids += page.monitors.map(&:id)
    return ids if page.next_cursor.nil?

    query[:cursor] = page.next_cursor
  end
end

def follow_an_article
  settings = configuration { |config| config.api_key["X-Webhook-Secret"] = ENV.fetch("WEBHOOK_SECRET") }
  articles = Monitoring::ArticlesApi.new(Monitoring::ApiClient.new(settings))
  content = Monitoring::ArticleContent.new(
    title: "Shoes", content: "# Fit first", format: "markdown", slug: "ruby"
  )
  accepted = articles.deliver_article(Monitoring::ArticleDelivery.new(article: content))
  check accepted.status == Monitoring::DeliveryStatus::ACCEPTED, "the article is accepted"

  1200.times do
    translations = articles.get_article(accepted.article_id).translations
    check translations.map(&:locale).sort == accepted.locales.sort, "every locale has its state"
    return if translations.all? { |each| each.status == Monitoring::TranslationStatus::TRANSLATED }

    sleep 0.05
  end
  raise "the article was never translated"
end

live_a_monitors_life
follow_an_article
