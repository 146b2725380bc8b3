namespace Greet;

/// <summary>Says hello.</summary>
public static class Greeter
{
    /// <summary>Greets somebody by name.</summary>
    public static string Greet(string name) => $"Hello, {name}!";
}
