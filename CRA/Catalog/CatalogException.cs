namespace CRA;

/// <summary>
/// A catalog that cannot be used as it is: the message says what, why and how to mend it. At a start it means exit code 2.
/// </summary>
public sealed class CatalogException(string message) : Exception(message);
