package com.example;

/** Says hello. */
public final class Greet {
    private Greet() {}

    /** Greets somebody by name. */
    public static String greet(String name) {
        return "Hello, " + name + "!";
    }
}
