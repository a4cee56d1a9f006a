namespace Ambrosia.Coordinator.Hosting;

/// <summary>No coordinator answers; the message says where one was looked for and what to do.</summary>
public sealed class AdminUnreachableException(string message) : Exception(message);
