<?php

declare(strict_types=1);

require __DIR__ . '/../vendor/autoload.php';

use Example\Greet;

$got = Greet::greet('Ada');
if ($got !== 'Hello, Ada!') {
    fwrite(STDERR, "FAIL: greet('Ada') is '$got'\n");
    exit(1);
}
echo "ok\n";
