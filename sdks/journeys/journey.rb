# frozen_string_literal: true

# A monitor's life, what it tells whom, and an article's way, through openapi-generator's Ruby SDK.

require "json"
require "monitoring"
require "securerandom"
require "time"
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

def expect(status, type, sentence)
  yield
  raise "no error: #{sentence}"
rescue Monitoring::ApiError => e
  check e.code == status, "the status is #{status}, not #{e.code}"
  check type.build_from_hash(JSON.parse(e.response_body)).error == sentence, "it says: #{sentence}"
end

def log_in
  auth = Monitoring::AuthApi.new(Monitoring::ApiClient.new(configuration))
  token = auth.issue_token(client_id: ENV.fetch("CLIENT_ID"), client_secret: ENV.fetch("CLIENT_SECRET"))
  settings = configuration { |config| config.access_token = token.access_token }
  Monitoring::ApiClient.new(settings)
end

def live_a_monitors_life(client)
  monitors = Monitoring::MonitorsApi.new(client)
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
  expect(412, Monitoring::MonitorChangedError, "Monitor has changed") do
    monitors.delete_monitor(ids[0], if_match: headers["ETag"])
  end

  check list_ids(monitors) == ids.reverse, "the pages hold every monitor"

  ask_how_it_is(client, ids[0])

  ids.each { |id| monitors.delete_monitor(id) }
  expect(404, Monitoring::MonitorNotFoundError, "Monitor not found") { monitors.get_monitor(ids[0]) }
end

def list_ids(monitors)
  ids = []
  query = { limit: 2, tag: "shop" }
  loop do
    page = monitors.list_monitors(query)
    ids += page.monitors.map(&:id)
    return ids if page.next_cursor.nil?

    query[:cursor] = page.next_cursor
  end
end

def ask_how_it_is(client, monitor_id)
  checks = Monitoring::ChecksApi.new(client)
  check checks.check_monitor_now(monitor_id).monitor_id == monitor_id, "the check is asked for"

  now = Time.now.utc.floor
  week_ago = now - (7 * 24 * 60 * 60)
  # The query wants text: a Time would be written as Ruby does, not as RFC 3339 says.
  week = { from: week_ago.iso8601, to: now.iso8601, window: Monitoring::Window::DAY }
  uptime = checks.get_uptime(monitor_id, week)
  check uptime.uptime_ratio.nil?, "nobody looked yet"
  check [uptime.windows.first.starts_at, uptime.windows.last.ends_at] == [week_ago, now], "the windows are the week"

  times = checks.get_response_times(monitor_id)
  check [times.check_count, times.p95_ms, times.windows] == [0, nil, []], "there are no response times"
end

def learn_what_is_down(client)
  incidents = Monitoring::IncidentsApi.new(client)
  incident = incidents.list_incidents(state: Monitoring::IncidentState::OPEN).incidents[0]
  check incident.error == Monitoring::CheckError::UNEXPECTED_STATUS, "the incident says why"
  check incident.resolution.nil?, "the incident goes on"

  all = incidents.list_incidents(monitor_id: incident.monitor_id).incidents
  check all.map(&:resolution) == [nil, Monitoring::IncidentResolution::RECOVERED], "another one is over"

  page = Monitoring::ChecksApi.new(client).list_checks(incident.monitor_id)
  check page.checks.map(&:error) == [Monitoring::CheckError::UNEXPECTED_STATUS, nil], "the last check failed"
end

def be_told_of_incidents(client)
  notifications = Monitoring::NotificationsApi.new(client)
  opened = Monitoring::NotificationEvent::INCIDENT_OPENED
  wanted = Monitoring::WebhookChannelCreate.new(type: "webhook", url: "https://pager.example.com/hooks", events: [opened])
  webhook = notifications.create_notification_channel(wanted)
  check webhook.events == [opened], "the webhook is told what was asked for"
  check webhook.secret.start_with?("whsec_"), "the secret is that of a webhook"

  sent = notifications.test_notification_channel(webhook.id)
  check sent.event == Monitoring::NotificationType::TEST, "the message is a test"
  deliveries = notifications.list_notification_deliveries(webhook.id).deliveries
  check deliveries.map(&:id) == [sent.id], "the message is among the deliveries"

  off = Monitoring::WebhookChannelUpdate.new(type: "webhook", enabled: false)
  check !notifications.update_notification_channel(webhook.id, off).enabled, "the webhook is off"
  expect(409, Monitoring::NotificationChannelSilentError, "Notification channel is disabled") do
    notifications.test_notification_channel(webhook.id)
  end

  notifications.delete_notification_channel(webhook.id)
end

def follow_an_article
  settings = configuration { |config| config.api_key["X-Webhook-Secret"] = ENV.fetch("WEBHOOK_SECRET") }
  articles = Monitoring::ArticlesApi.new(Monitoring::ApiClient.new(settings))
  content = Monitoring::ArticleContent.new(
    title: "Shoes", content: "# Fit first", format: "markdown", slug: "ruby"
  )
  accepted = articles.deliver_article(Monitoring::ArticleSubmission.new(article: content))
  check accepted.status == Monitoring::SubmissionStatus::ACCEPTED, "the article is accepted"

  1200.times do
    translations = articles.get_article(accepted.article_id).translations
    check translations.map(&:locale).sort == accepted.locales.sort, "every locale has its state"
    return if translations.all? { |each| each.status == Monitoring::TranslationStatus::TRANSLATED }

    sleep 0.05
  end
  raise "the article was never translated"
end

client = log_in
live_a_monitors_life(client)
learn_what_is_down(client)
be_told_of_incidents(client)
follow_an_article
