# frozen_string_literal: true

# Create a monitor and show the state of all, with a token that stays fresh and retries that never act twice.
#
# How to generate the SDK and run this: docs/guides/generate-an-sdk.md. BASE_URL, CLIENT_ID and CLIENT_SECRET come
# from the environment.

require "monitoring"
require "securerandom"
require "uri"

ATTEMPTS = 6
RENEW_EARLY_SECONDS = 300

def new_client
  Monitoring::ApiClient.new(
    Monitoring::Configuration.new do |config|
      base_url = URI(ENV.fetch("BASE_URL"))
      config.scheme = base_url.scheme
      config.host = "#{base_url.host}:#{base_url.port}"
      yield config if block_given?
    end
  )
end

# Calls again after 429, 5xx and a broken connection: when the service says, else with growing pauses.
def patiently
  attempt = 0
  begin
    attempt += 1
    yield
  rescue Monitoring::ApiError => e
    is_transient = e.code.nil? || e.code == 429 || e.code >= 500
    raise if !is_transient || attempt == ATTEMPTS

    sleep pause_seconds(attempt, e)
    retry
  end
end

# At least Retry-After, and different for clients that failed together.
def pause_seconds(attempt, error)
  retry_after = error.response_headers&.fetch("Retry-After", nil) || (60 if error.code == 429)
  return Integer(retry_after) + rand(0.0..0.5) if retry_after

  2**(attempt - 1) * rand(0.5..1.0)
end

# A bearer token. It is renewed if there is none, or if it expires soon or is refused.
class FreshToken
  def initialize
    @auth = Monitoring::AuthApi.new(new_client)
    @renew_at = 0
  end

  attr_reader :value

  def with_renewal
    renew if now >= @renew_at
    begin
      yield
    rescue Monitoring::ApiError => e
      raise unless e.code == 401

      renew
      yield
    end
  end

  private

  def renew
    credentials = { client_id: ENV.fetch("CLIENT_ID"), client_secret: ENV.fetch("CLIENT_SECRET") }
    issued = patiently { @auth.issue_token(credentials) }
    @value = issued.access_token
    @renew_at = now + issued.expires_in - RENEW_EARLY_SECONDS
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

token = FreshToken.new
client = new_client { |config| config.access_token_getter = -> { token.value } }
monitors = Monitoring::MonitorsApi.new(client)
checks = Monitoring::ChecksApi.new(client)
incidents = Monitoring::IncidentsApi.new(client)

wanted = Monitoring::MonitorCreate.new(url: "https://shop.example.com/health", interval_seconds: 60)
# One key per write, not per attempt: it lets the service recognise a repetition.
key = SecureRandom.uuid
created = token.with_renewal { patiently { monitors.create_monitor(wanted, idempotency_key: key) } }

query = {}
loop do
  page = token.with_renewal { patiently { monitors.list_monitors(query) } }
  page.monitors.each { |monitor| puts "#{monitor.status} #{monitor.name} #{monitor.url}" }
  break if page.next_cursor.nil?

  query[:cursor] = page.next_cursor
end

ratio = token.with_renewal { patiently { checks.get_uptime(created.id) } }.uptime_ratio
puts "uptime of 30 days: #{ratio ? format('%.3f%%', ratio * 100) : 'not known yet'}"

open_ones = { state: Monitoring::IncidentState::OPEN }
page = token.with_renewal { patiently { incidents.list_incidents(open_ones) } }
page.incidents.each { |incident| puts "down: #{incident.error_message}" } # the newest 50
