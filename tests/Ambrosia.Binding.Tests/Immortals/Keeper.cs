using System.Runtime.Serialization;

namespace Ambrosia.Binding.Tests;

/// <summary>State of every kind that a checkpoint can hold.</summary>
public interface IKeeper
{
    [MethodId(1)]
    void Fill();

    [MethodId(2)]
    void Spoil(int how);

    [MethodId(3)]
    void Check();
}

public class Node
{
    private readonly List<Node> _children = [];

    internal string? Name { get; init; }

    internal Node? Parent { get; set; }

    internal List<Node> Children => _children;
}

public struct Pair
{
    internal object? First;
    internal Node? Second;
    internal (int, string) Third;
}

#pragma warning disable AMB131 // what a build without the analyzers loses is tested
[DataContract]
public sealed class Contracted
{
    [DataMember]
    internal int Kept = 1;
    internal int Dropped = 2;

    [DataMember]
    internal string? KeptText { get; set; } = "k";

    internal string? DroppedText { get; set; } = "d";
}

public sealed class CaseKey(string text)
{
    private readonly string _text = text;

    public override bool Equals(object? obj) => obj is CaseKey other && other._text == _text;

    public override int GetHashCode() => string.GetHashCode(_text, StringComparison.Ordinal);
}

public partial class Keeper : Immortal<IKeeperProxy>, IKeeper
{
    internal bool Flag;
    internal (byte, sbyte, short, ushort, uint, ulong, char, float, double, decimal) Numbers;
    internal (DateTime, DateTimeOffset, TimeSpan, Guid, DateOnly, TimeOnly) Times;
    internal DayOfWeek? Day;
    internal int? NoNumber = 3;
    internal string? Text;
    internal object? Boxed;
    internal object? BoxedAgain;
    internal object?[]? Mixed;
    internal int[,]? Grid;
    internal byte[]? Bytes;
    internal Node? Root;
    internal Node? Alias;
    internal Pair Pair;
    internal Contracted? Contracted;
    internal List<int>? Shared;
    internal List<int>? SharedAgain;
    internal Dictionary<string, Node>? ByName;
    internal Dictionary<CaseKey, int>? ByKey;
    internal HashSet<string>? Set;
    internal Queue<int>? Queue;
    internal Stack<int>? Stack;
    internal LinkedList<string>? Linked;
    internal SortedDictionary<string, int>? Sorted;
    internal SortedSet<int>? SortedSet;
    internal SortedList<string, int>? SortedList;
    internal IKeeperProxy? Other;
    internal IKeeperProxy? OtherAgain;
    internal object? Spoiled;

#pragma warning disable AMB134 // what is lost behind a restore is tested
    [NotState]
    internal Stream? Ignored = new MemoryStream();

    [NotState]
    internal string? IgnoredToo { get; set; } = "x";

    public void Fill()
    {
        Flag = true;
        Numbers = (1, -2, -3, 4, 5, ulong.MaxValue, 'c', 1.5f, double.NaN, 1.10m);
        Times = (new DateTime(1, DateTimeKind.Utc), new DateTimeOffset(2026, 1, 2, 3, 4, 5, TimeSpan.FromHours(3)), TimeSpan.MinValue,
            new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), new DateOnly(2026, 1, 2), new TimeOnly(3, 4));
        Day = DayOfWeek.Friday;
        NoNumber = null;
        Text = "grüße \uD800 lone";
        Boxed = BoxedAgain = 42;
        Bytes = [1, 2, 3];
        Grid = new[,] { { 1, 2, 3 }, { 4, 5, 6 } };
        Root = new Node { Name = "root" };
        for (int i = 0; i < 3; i++) Root.Children.Add(new Node { Name = $"child{i}", Parent = Root });
        Alias = Root.Children[1];
        Mixed = [1, "two", null, Alias, new Pair { First = "f", Second = Root, Third = (1, "x") }, DayOfWeek.Monday,
            new int[] { 7 }, new object()];
        Pair = new Pair { First = null, Second = Alias, Third = (7, "y") };
        Contracted = new Contracted { Kept = 10, Dropped = 20, KeptText = "kk", DroppedText = "dd" };
        Shared = SharedAgain = [3, 1, 2];
        ByName = new(StringComparer.OrdinalIgnoreCase) { ["One"] = Root, ["Two"] = Alias };
        ByKey = new() { [new CaseKey("a")] = 1, [new CaseKey("b")] = 2 };
        Set = ["z", "a", "m"];
        Queue = new([1, 2, 3]);
        Stack = new([1, 2, 3]);
        Linked = new(["x", "y"]);
        Sorted = new(StringComparer.Ordinal) { ["b"] = 2, ["a"] = 1 };
        SortedSet = [3, 1, 2];
        SortedList = new() { ["q"] = 1, ["p"] = 2 };
        Other = OtherAgain = GetProxy<IKeeper>("other");
        Chain(100_000);
    }

    public void Spoil(int how) => Spoiled = how switch
    {
        0 => null,
        1 => new MemoryStream(),
        2 => new Func<int>(() => how),
        3 => new Dictionary<string, int>(StringComparer.CurrentCultureIgnoreCase),
        4 => new List<object> { new Timer(static _ => { }) },
        5 => new CancellationTokenSource(),
        6 => new Task(() => { }),
        7 => new RemoteCallException("T", "m", new RemoteCallException("I", "i")),
        8 => new System.Collections.Concurrent.ConcurrentQueue<int>(),
        9 => new List<System.Numerics.Complex> { how },
        _ => new KeyValuePair<string, Stream>("k", new MemoryStream()),
    };

    public void Check()
    {
        var failure = (RemoteCallException)Spoiled!;
        Text = $"{failure.TypeName} {failure.Message} {failure.InnerException!.Message}";
    }

    /// <summary>A chain that is too long to recurse over.</summary>
    private void Chain(int length)
    {
        Node at = Root!;
        for (int i = 0; i < length; i++)
        {
            at.Parent = new Node();
            at = at.Parent;
        }
        at.Parent = Root;
    }
}
