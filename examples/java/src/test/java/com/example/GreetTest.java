package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class GreetTest {
    @Test
    void greetsByName() {
        assertEquals("Hello, Ada!", Greet.greet("Ada"));
    }
}
