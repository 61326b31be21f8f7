use monitoring::apis::configuration::Configuration;
use monitoring::apis::monitors_api::{list_monitors, ListMonitorsError};
use monitoring::apis::Error;
use monitoring::models::Monitor;
use std::env::var;

// <recipe>

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let configuration = Configuration {
        base_path: var("BASE_URL")?,
        bearer_access_token: Some(var("TOKEN")?),
        ..Configuration::new()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for monitor in runtime.block_on(every_monitor(&configuration))? {
        println!("{}", monitor.id);
    }
    Ok(())
}
