using System.Reflection;

namespace Ambrosia.Failures;

/// <summary>
/// Knows the texts that the runtime has in its native part, where no resource of an assembly has them. It learns them by making the runtime
/// say them: where the names stand that it was made to say is where the holes are.
/// </summary>
internal static class NativeTexts
{
    private const string NoAssembly = "Ambrosia.NoSuchAssembly";

    internal static IEnumerable<FrameworkText> All() =>
    [
        .. Learned(static () => (Version)(object)"", typeof(string).FullName!, typeof(Version).FullName!),
        .. Learned(static () => Assembly.Load(NoAssembly), NoAssembly),
    ];

    /// <param name="act">It throws.</param>
    /// <param name="names">What the text says of this one case, in their order.</param>
    private static FrameworkText[] Learned(Func<object> act, params ReadOnlySpan<string> names)
    {
        try
        {
            act();
            return [];
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            string text = e.Message;
            foreach (string name in names) text = text.Replace(name, "{0}", StringComparison.Ordinal);
            return text == e.Message ? [] : [new FrameworkText("System.Private.CoreLib", "", text)];
        }
    }
}
