<?php

declare(strict_types=1);

namespace Example;

final class Greet
{
    /** Greets somebody by name. */
    public static function greet(string $name): string
    {
        return "Hello, {$name}!";
    }
}
