using System.Text.Json.Nodes;

namespace Ambrosia.Coordinator.Admin;

/// <summary>Answers one request of an operator. It never waits: whoever serves the connection asks again. One thread uses it.</summary>
internal interface IAdminReply
{
    /// <summary>Returns the next answer; null: there is none yet.</summary>
    JsonObject? Next(out bool isLast);
}

/// <summary>Begins one command. Any thread may call it.</summary>
internal delegate IAdminReply AdminCommand(JsonObject request);
