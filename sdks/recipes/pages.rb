# frozen_string_literal: true

require "monitoring"
require "uri"

address = URI(ENV.fetch("BASE_URL"))
Monitoring.configure do |config|
  config.scheme = address.scheme
  config.host = "#{address.host}:#{address.port}"
  config.access_token = ENV.fetch("TOKEN")
end

# <recipe>

every_monitor(Monitoring::MonitorsApi.new) { |monitor| puts monitor.id }
