<?php

use Monitoring\Api\MonitorsApi;
use Monitoring\Configuration;

require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    require __DIR__ . '/monitoring/lib/' . strtr(substr($class, strlen('Monitoring\\')), '\\', '/') . '.php';
});

// <recipe>

$configuration = (new Configuration())->setHost(getenv('BASE_URL'))->setAccessToken(getenv('TOKEN'));
foreach (everyMonitor(new MonitorsApi(null, $configuration)) as $monitor) {
    echo $monitor->getId(), "\n";
}
