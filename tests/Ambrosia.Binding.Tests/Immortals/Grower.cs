namespace Ambrosia.Binding.Tests;

public interface IGrower
{
    [MethodId(1)]
    void Grow(int seed);
}

/// <summary>State that is a random graph: sharing, cycles, boxes, structs, collections in collections.</summary>
public sealed partial class Grower : Immortal<IGrowerProxy>, IGrower
{
    internal object? Root { get; private set; }

    public void Grow(int seed)
    {
        var random = new Random(seed);
        var pool = new List<object?> { null, "text", 5, 1.5, seed };
        for (int i = 0; i < 200; i++) pool.Add(Make(random, pool));
        Root = pool;
    }

    private static object? Pick(Random random, List<object?> pool) => pool[random.Next(pool.Count)];

    private static object Make(Random random, List<object?> pool)
    {
        List<object?> items = [.. Enumerable.Range(0, random.Next(5)).Select(_ => Pick(random, pool))];
        switch (random.Next(12))
        {
            case 0: return items;
            case 1: return items.ToArray();
            case 2: return new Queue<object?>(items);
            case 3: return new Stack<object?>(items);
            case 4:
                return new Pair { First = Pick(random, pool), Second = pool.OfType<Node>().LastOrDefault(), Third = (random.Next(), "t") };
            case 5: return new Dictionary<int, object?> { [random.Next()] = Pick(random, pool), [-random.Next()] = pool };
            case 6: return new SortedDictionary<string, object?>(StringComparer.Ordinal) { [random.Next().ToString()] = items };
            case 7: return new KeyValuePair<object?, Pair?>(Pick(random, pool), random.Next(2) == 0 ? null : new Pair { First = pool });
            case 8: return new List<Pair> { new() { First = Pick(random, pool) }, default };
            case 9: return new long[random.Next(4), random.Next(4)];
            case 10: return (DayOfWeek)random.Next(7);
            default:
                var node = new Node
                {
                    Name = random.Next(3) == 0 ? null : random.Next().ToString(), Parent = pool.OfType<Node>().FirstOrDefault()
                };
                node.Children.AddRange(pool.OfType<Node>().Where(_ => random.Next(4) == 0));
                if (node.Parent is not null && random.Next(3) == 0) node.Parent.Parent = node;
                return node;
        }
    }
}
