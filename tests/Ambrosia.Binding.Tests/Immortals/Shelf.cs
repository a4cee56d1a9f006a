using Ambrosia.State;

namespace Ambrosia.Binding.Tests;

public interface IShelf
{
    [MethodId(1)]
    void Shuffle(int seed);
}

/// <summary>Hashed collections that items come to and go from, and what it saw when it enumerated them.</summary>
public sealed partial class Shelf : Immortal<IShelfProxy>, IShelf
{
    internal Dictionary<string, int> ByText { get; } = [];
    internal Dictionary<int, string> ByNumber { get; } = [];
    internal Dictionary<string, int> Caseless { get; } = new(StringComparer.OrdinalIgnoreCase);
    internal HashSet<string?> Texts { get; } = [];
    internal HashSet<long> Numbers { get; } = [];

    /// <summary>With room that they did not grow into, so that trimming them closes their gaps.</summary>
    internal Dictionary<int, int> Roomy { get; } = new(500);
    internal HashSet<int> RoomyNumbers { get; } = new(500);
    internal string Seen { get; private set; } = "";

    /// <summary>Seeds that end in 9 leave nothing but free slots.</summary>
    public void Shuffle(int seed)
    {
        var random = new Random(seed);
        if (seed >= 1000)
        {
            Roomy.TrimExcess();
            RoomyNumbers.TrimExcess();
        }
        for (int i = 0; i < 120; i++)
        {
            int n = random.Next(24);
            string? text = n == 0 ? null : $"t{n}";
            bool add = random.Next(5) < 3;
            Change(add, () => ByText[text ?? ""] = i, () => ByText.Remove(text ?? ""));
            Change(add, () => ByNumber[n - 12] = text ?? "", () => ByNumber.Remove(n - 12));
            Change(add, () => Caseless[$"{(i % 2 == 0 ? "x" : "X")}{n}"] = i, () => Caseless.Remove($"x{n}"));
            Change(add, () => Texts.Add(text), () => Texts.Remove(text));
            Change(add, () => Roomy[n] = i, () => Roomy.Remove(n));
            Change(add, () => RoomyNumbers.Add(n), () => RoomyNumbers.Remove(n));
            Change(add, () => Numbers.Add(n * 1_000_000_007L), () => Numbers.Remove(n * 1_000_000_007L));
        }
        Seen = string.Join(' ', [.. ByText.Keys, .. ByNumber.Keys, .. Caseless.Keys, .. Texts, .. Numbers, .. Roomy.Keys, .. RoomyNumbers]);
        if (seed % 10 != 9) return;
        foreach (string text in ByText.Keys.ToArray()) ByText.Remove(text);
        foreach (int number in ByNumber.Keys.ToArray()) ByNumber.Remove(number);
        foreach (string? text in Texts.ToArray()) Texts.Remove(text);
    }

    private static void Change(bool add, Action whenAdding, Action whenRemoving) => (add ? whenAdding : whenRemoving)();
}
