using System.Text.Json.Nodes;

namespace Ambrosia.Coordinator;

/// <summary>What is answered to one request of an operator. It never waits: whoever serves the connection asks again. One thread.</summary>
internal interface IAdminReply
{
    /// <summary>The next answer; null: there is none yet.</summary>
    JsonObject? Next(out bool isLast);
}

/// <summary>Begins one command; any thread.</summary>
internal delegate IAdminReply AdminCommand(JsonObject request);
