using System.Text;
using Ambrosia.Images.Json;
using Ambrosia.Protocol;

namespace Ambrosia.Images.Nodes;

/// <summary>Has the writers by which nodes write themselves; of the two formats' one is there.</summary>
internal sealed record NodeJson(JsonOutput Output, ObjectJson? Objects, PortableJson? Portable);

/// <summary>Makes short texts of JSON, one after another with one writer.</summary>
internal sealed class JsonTexts
{
    private readonly StringBuilder _text = new();
    private readonly JsonOutput _output;

    internal JsonTexts() => _output = new JsonOutput(piece => _text.Append(Encoding.UTF8.GetString(piece)), isIndented: false);

    internal delegate void WriteItem(ref CborReader from, JsonOutput to);

    internal string Of(NumberValue value)
    {
        Begin();
        value.WriteTo(_output);
        return End();
    }

    internal string Of(ref CborReader from, WriteItem write)
    {
        Begin();
        write(ref from, _output);
        return End();
    }

    internal string Of(string text)
    {
        Begin();
        _output.Text(text);
        return End();
    }

    private void Begin()
    {
        _text.Clear();
        _output.Restart();
    }

    private string End()
    {
        _output.Flush();
        return _text.ToString();
    }
}
