namespace HelloWorld.Orchestration;

/// <summary>
/// Keeps the questions that a run asks its two apps, and their answers. Apps that replay their log answer old questions again, so each
/// question has a name of its own, made of the run's name and a number.
/// </summary>
internal sealed class Questions(string run)
{
    /// <summary>The name of the run, which no other run has.</summary>
    public string Run => run;

    /// <summary>The newest answer of the client; null before the first.</summary>
    public ClientReport? Client { get; private set; }

    /// <summary>The newest answer of the server; null before the first.</summary>
    public ServerReport? Server { get; private set; }

    /// <summary>The number of the last question that was asked.</summary>
    public int Asked { get; private set; }

    /// <summary>The number of the newest question that the client has answered.</summary>
    public int ClientAnswered { get; private set; }

    /// <summary>The number of the newest question that the server has answered.</summary>
    public int ServerAnswered { get; private set; }

    /// <summary>The highest number of applied calls that the server has ever stated. What it has once stated stays true.</summary>
    public long Applied { get; private set; }

    /// <summary>True if both sides have answered a question that came after number <paramref name="asked"/>.</summary>
    public bool BothAnsweredAfter(int asked) => ClientAnswered > asked && ServerAnswered > asked;

    public string Next() => $"report {run}.{++Asked}";

    /// <summary>Reads a line that an app has printed.</summary>
    public void Take(string line)
    {
        if (ClientReport.TryParse(line) is { } client && NumberOf(client.Question) is { } toClient && toClient > ClientAnswered)
            (Client, ClientAnswered) = (client, toClient);
        if (ServerReport.TryParse(line) is { } server && NumberOf(server.Question) is { } toServer && toServer > ServerAnswered)
        {
            (Server, ServerAnswered) = (server, toServer);
            Applied = Math.Max(Applied, server.Applied);
        }
    }

    /// <summary>Returns the number of a question, or null where it is one of another run.</summary>
    private int? NumberOf(string question) =>
        question.StartsWith(run + ".", StringComparison.Ordinal) && int.TryParse(question.AsSpan(run.Length + 1), out int number)
        ? number : null;
}
