using System.Text.Json;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Tests;

/// <summary>Runs the tool once in this process, as in a pipe.</summary>
internal sealed record ToolRun(int Code, string Output, string Error)
{
    public string[] Lines => Output.Split('\n', StringSplitOptions.RemoveEmptyEntries);

    /// <summary>Returns the only line of the output, which must be a whole JSON object.</summary>
    public JsonElement Json => JsonDocument.Parse(Assert.Single(Lines)).RootElement;

    public IEnumerable<JsonElement> JsonLines => Lines.Select(static line => JsonDocument.Parse(line).RootElement);

    public static ToolRun Of(params string[] args) => Answered(null, args);

    /// <summary>Runs the tool with an answer to what it asks; null: nobody is there to answer.</summary>
    public static ToolRun Answered(string? answer, params string[] args)
    {
        using StringReader? input = answer is null ? null : new StringReader(answer);
        using var output = new StringWriter { NewLine = "\n" };
        using var error = new StringWriter { NewLine = "\n" };
        int code = Tool.Run(args, new ToolStreams(output, error, Input: input));
        return new ToolRun(code, output.ToString(), error.ToString());
    }
}
