using System.Globalization;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Failures;

/// <summary>
/// Says under which name and text an exception travels (protocol P4.7). The text of an app is its own. Of the framework's and the system's
/// words none travels, because failures are under channel hashes and in images, and another runtime words them otherwise. Nothing is paid
/// for it before the first exception. Immutable, so any thread may call it.
/// </summary>
internal sealed class FailureWording(FrameworkWords framework)
{
    /// <summary>Where a text is longer than any that travels, the inner ones of an AggregateException are left out.</summary>
    private const int CharsMax = 8192;

    /// <summary>
    /// The exceptions out of an image whose text the runtime before this one had made. It may have had other words than this one.
    /// </summary>
    private static readonly ConditionalWeakTable<Exception, object> s_ofRuntimesBefore = [];

    /// <summary>Stands for an app's text where the framework's words around it are looked at.</summary>
    private const string Mark = "m";

    /// <summary>Describes an exception and its causes as they travel, in the words that this process's runtime makes failures of.</summary>
    internal static FailureInfo Describe(Exception failure) => ThisRuntime.Wording.Of(failure);

    /// <summary>Says whether an exception holds a text of the runtime, which will not travel.</summary>
    internal static bool HoldsRuntimesText(Exception failure) =>
        ListedFailures.Of(failure) is null && FailureInfo.MessageOf(failure) is { } message && HeldTextIn(message, failure) is { } held
        && ThisRuntime.Wording.TextOfOne(failure, held) is null;

    /// <summary>
    /// Returns the text that an exception holds, if it is what its message begins with; null: it holds none, or its type has a message of
    /// its own, which whoever restores it makes anew.
    /// </summary>
    private static string? HeldTextIn(string message, Exception failure) =>
        MessageField(failure) is { Length: > 0 } held && message.StartsWith(held, StringComparison.Ordinal) ? held : null;

    /// <summary>Takes note that the text of an exception, which was restored, is that of the runtime that made it.</summary>
    internal static void Restored(Exception failure) => s_ofRuntimesBefore.AddOrUpdate(failure, failure);

    internal FailureInfo Of(Exception failure) => FailureInfo.Of(failure, static e => NameOf(e), TextOf);

    /// <summary>
    /// Returns the name of an exception's type. Of a type of the framework that is not public it is that of the nearest base type that is,
    /// since what is not public goes without notice.
    /// </summary>
    private static string NameOf(Exception failure)
    {
        Type type = failure.GetType();
        while (!type.IsVisible && FrameworkAssemblies.Has(type)) type = type.BaseType!;
        return FailureInfo.NameOf(type);
    }

    private string TextOf(Exception failure) => TextOf(failure, FailureInfo.DepthMax);

    private string TextOf(Exception failure, int depth)
    {
        if (ListedFailures.Of(failure) is { } listed) return listed.Message;
        try
        {
            return (failure is AggregateException many ? TextOfMany(many, depth) : TextOfOne(failure, failure.Message)) ?? Neutral(failure);
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            return Neutral(failure); // an app's own Message, or the ToString of a value that it names, has thrown
        }
    }

    private static string Neutral(Exception failure) => ListedFailures.NoText(NameOf(failure));

    /// <summary>
    /// Returns the app's text, without what the framework adds to it: a parameter's name, a value, an object's name. These are the app's,
    /// and stand behind its text in words of our own. Null: the text is the framework's.
    /// </summary>
    private string? TextOfOne(Exception failure, string message)
    {
        if (s_ofRuntimesBefore.TryGetValue(failure, out _) && HeldTextIn(message, failure) is not null) return null;
        string tail = "", parameter = "";
        if (failure is ArgumentOutOfRangeException { ActualValue: { } value }
            && CutEnd(ref message, new ArgumentOutOfRangeException(null, value, Mark)))
            tail = $"\nActual value was {Convert.ToString(value, CultureInfo.InvariantCulture)}.";
        if (failure is ArgumentException { ParamName: { Length: > 0 } name })
        {
            var worded = new ArgumentException(Mark, name);
            parameter = worded.Message[Mark.Length..];
            if (CutEnd(ref message, worded)) tail = $" (Parameter '{name}'){tail}";
        }
        if (failure is ObjectDisposedException { ObjectName: { Length: > 0 } of }
            && CutEnd(ref message, new ObjectDisposedException(of, Mark)))
            tail = $"\nObject name: '{of}'.";
        string bare = parameter.Length == 0 ? message : message.Replace(parameter, "", StringComparison.Ordinal);
        return IsOfRuntime(failure, bare) ? null : message + tail;
    }

    /// <summary>Cuts off what the framework adds to a text, in whatever words it adds it now.</summary>
    private static bool CutEnd(ref string message, Exception worded)
    {
        string end = worded.Message[Mark.Length..];
        if (!message.EndsWith(end, StringComparison.Ordinal)) return false;
        message = message[..^end.Length];
        return true;
    }

    /// <summary>
    /// Returns the text of an exception of several, whose message is made of theirs. Null: it is one of the framework's, about none.
    /// </summary>
    private string? TextOfMany(AggregateException failure, int depth)
    {
        string message = failure.Message;
        if (HeldTextIn(message, failure) is not { } own || message.Length == own.Length) return TextOfOne(failure, message);
        var text = new StringBuilder(TextOfOne(failure, own) ?? Neutral(failure));
        foreach (Exception inner in failure.InnerExceptions)
            if (depth > 1 && text.Length < CharsMax) text.Append($" ({TextOf(inner, depth - 1)})");
        return text.ToString();
    }

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_message")]
    private static extern ref string? MessageField(Exception failure);

    private bool IsOfRuntime(Exception failure, string message)
    {
        Type type = failure.GetType();
        if (HasWords(failure, message)) return true;
        if (!FrameworkAssemblies.Has(type)) return false;
        return failure switch
        {
            TypeLoadException or FileLoadException or BadImageFormatException or InvalidProgramException => true,
            JsonException json => PlaceIn(json, message) is > 0 and var place && framework.Has(message[..place], "System.Text.Json"),
            { InnerException: { } inner } => message.StartsWith(inner.Message, StringComparison.Ordinal)
                && FrameworkAssemblies.Has(inner.GetType()) && HasWords(inner, inner.Message),
            _ => false,
        };
    }

    private bool HasWords(Exception failure, string message)
    {
        Type type = failure.GetType();
        while (!FrameworkAssemblies.Has(type)) type = type.BaseType!;
        return framework.Has(message, type.Assembly.GetName().Name!) || IsOfSystem(failure, message);
    }

    /// <summary>Returns where a text goes on with its place in the JSON, which is in no resource; -1: it does not.</summary>
    private static int PlaceIn(JsonException failure, string message)
    {
        int path = failure.Path is null ? -1 : message.LastIndexOf(" Path: ", StringComparison.Ordinal);
        return path > 0 || failure.LineNumber is null ? path : message.LastIndexOf(" LineNumber: ", StringComparison.Ordinal);
    }

    /// <summary>
    /// Says whether a text is what the operating system says of the exception's own error number, with what the framework adds behind it.
    /// </summary>
    private static bool IsOfSystem(Exception failure, string message)
    {
        string words = failure switch
        {
            SocketException socket => new SocketException((int)socket.SocketErrorCode).Message,
            System.ComponentModel.Win32Exception system => Marshal.GetPInvokeErrorMessage(system.NativeErrorCode),
            IOException when ErrorOf(failure.HResult) is > 0 and var error => Marshal.GetPInvokeErrorMessage(error),
            _ => "",
        };
        return words.Length > 0 && message.StartsWith(words, StringComparison.Ordinal)
            && (message.Length == words.Length || message[words.Length] == ' ');
    }

    /// <summary>Returns the system's error number in a result code: on Windows in its lower half, elsewhere as it is.</summary>
    private static int ErrorOf(int result) =>
        OperatingSystem.IsWindows() ? (result & 0xFFFF0000) == 0x80070000 ? result & 0xFFFF : 0 : result;

    /// <summary>Is made at the first exception: the resources of a hundred files are read for it.</summary>
    private static class ThisRuntime
    {
        internal static readonly FailureWording Wording =
            new(new FrameworkWords(FrameworkTexts.All().Concat(NativeTexts.All()), HasKeysForTexts()));

        /// <summary>A text that is one word is a key (UseSystemResourceKeys, as trimmed apps have it).</summary>
        private static bool HasKeysForTexts() => !new KeyNotFoundException().Message.Contains(' ', StringComparison.Ordinal);
    }
}
