namespace CRA;

/// <summary>Certificates that cannot be used: the message says what, why and how to mend it. At a start it means exit code 2.</summary>
public sealed class LinkCertificateException(string message, Exception? inner = null) : Exception(message, inner);
