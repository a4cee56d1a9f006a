// Every shape of suspended method that we could think of. The tests compile this file, and variants of it made by text edits: a comment
// that begins with + marks a place where an unrelated edit may put something.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Ambrosia;

namespace Demo;

public interface IOracle
{
    [MethodId(1)] long Get(string key);
    [MethodId(2)] string Name(string key);
}

public interface IShapes
{
    [MethodId(1)] Call<long> Transfer();
    [MethodId(2)] Call<string> Spill();
    [MethodId(3)] Call<long> Compound();
    [MethodId(4)] Call<string> CatchFinally();
    [MethodId(5)] Call<long> ForeachList();
    [MethodId(6)] Call<long> Closures();
    [MethodId(7)] Call<string> Generic();
    [MethodId(8)] Call<long> FanOut();
    [MethodId(9)] Call<string> Misc();
    [MethodId(10)] Call<long> DeadLocals();
    [MethodId(11)] Call Recursion();
    [MethodId(12)] Call<long> AwaitForeach();
    [MethodId(13)] Call<long> Conditions();
    [MethodId(14)] Call<long> Loops();
    [MethodId(15)] Call<long> Delegates();
    [MethodId(16)] Call<long> AsyncLambdas();
    [MethodId(17)] Call<string> Aliases();
    [MethodId(18)] Call<string> Interpolated();
    [MethodId(19)] Call<long> ReturnInFinally();
    [MethodId(20)] Call<string> KeptException();
    [MethodId(21)] Call<string> Anonymous();
    [MethodId(22)] Call<long> Many();
    [MethodId(23)] Call<string> Collections();
    [MethodId(24)] Call<long> OfAStruct();
    [MethodId(25)] Call<long> NestedGeneric();
    [MethodId(26)] Call<string> ChangedList();
    [MethodId(27)] Call<long> Overloads();
    [MethodId(28)] Call<long> ThroughABase();
    [MethodId(29)] Call<string> Cycles();
    [MethodId(30)] Call<string> AnyOf();
    [MethodId(31)] Call<string> Cancelled();
    [MethodId(32)] Call<string> StoredCalls();
}

public sealed class Account
{
    public string Name = "";
    public long Balance;
    public List<string> Notes = new();
    public Account? Peer;
}

public readonly record struct Place(int X, int Y);

public sealed class Refused(string why, int code) : Exception(why)
{
    public int Code { get; } = code;
}

public sealed class Scope(List<string> trace) : IDisposable
{
    private readonly List<string> _trace = trace;
    public void Dispose() => _trace.Add("disposed");
}

public sealed class AsyncScope(Shapes owner)
{
    private readonly Shapes _owner = owner;
    public async Call DisposeAsync() => _owner.Note("closed " + await _owner.Get("close"));
}

public sealed class Countdown(Shapes owner, int count)
{
    private readonly Shapes _owner = owner;
    private int _left = count;
    public long Current { get; private set; }
    public Countdown GetAsyncEnumerator() => this;
    public async Call<bool> MoveNextAsync()
    {
        if (_left-- <= 0) return false;
        Current = await _owner.Get("count" + _left);
        return true;
    }
    public async Call DisposeAsync() => await _owner.Get("end of count");
}

public struct Counter(Shapes owner, int by)
{
    private readonly Shapes _owner = owner;
    private int _by = by;
    public async Call<long> Count()
    {
        _by++;
        long first = await _owner.Get("struct");
        _by++;
        return first + _by;
    }
}

public abstract class Asker
{
    protected abstract Call<long> Inner(string key);
    public async Call<long> Twice(string key)
    {
        long once = await Inner(key + "1");
        return once + await Inner(key + "2");
    }
}

public sealed class OneMore(Shapes owner) : Asker
{
    private readonly Shapes _owner = owner;
    protected override async Call<long> Inner(string key) => await _owner.Get(key) + 1;
}

public sealed partial class Shapes : Immortal<IShapesProxy>, IShapes
{
    private readonly Dictionary<string, Account> _accounts = new();
    private readonly List<Account> _order = new();
    private readonly List<string> _trace = new();
    private readonly IOracleProxy _oracle;
    private long _total;

    public Shapes()
    {
        _oracle = GetProxy<IOracle>("oracle");
        foreach (string name in new[] { "ann", "bob", "eve" }) Open(name).Balance = 10 * name.Length + _order.Count;
    }

    public Call<long> Get(string key) => _oracle.GetAsync(key);
    public Call<string> Name(string key) => _oracle.NameAsync(key);
    public void Note(string text) => _trace.Add(text);
    private Account Open(string name)
    {
        var account = new Account { Name = name };
        _accounts[name] = account;
        _order.Add(account);
        return account;
    }

    //+members
    public async Call<long> Transfer()
    {
        Account from = _accounts["ann"], to = _accounts["bob"];
        long fee = 0;
        for (int i = 0; i < 3; i++)
        {
            fee += await Get("fee" + i);
            from.Notes.Add("fee" + i);
        }
        from.Balance -= fee;
        to.Balance += fee;
        _total += fee;
        return fee;
    }

    public async Call<string> Spill()
    {
        int y = (int)_total + 4;
        return Join(Side("l"), await Get("m"), y, Side("r") + await Name("n")) + Joined();
    }
    private static string Joined(string with = "|") => with;
    private string Side(string text) { Note(text); return text; }
    private string Join(string l, long m, int y, string r) => l + "|" + m + "|" + y + "|" + r;/*+helper*/

    public async Call<long> Compound()
    {
        _accounts["ann"].Balance += await Get("c");
        _order[1].Balance *= 2 + await Get("d");
        _total += _accounts["ann"].Balance + await Get("e");
        return _total;
    }

    public async Call<string> CatchFinally()
    {
        string text = "";
        try
        {
            try { text += await Get("boom 1"); }
            catch (RemoteCallException e) when (e.Message != "") { text += "c" + await Get("in catch") + e.Message; throw; }
            finally { text += "f" + await Get("in finally"); Note(text); }
        }
        catch (Exception e) { text += "outer:" + e.GetType().Name + await Name("z"); }
        return text;
    }

    public async Call<long> ForeachList()
    {
        long sum = 0;
        var pair = (n: 1, s: "one");
        using var scope = new Scope(_trace);
        foreach (Account account in _order)
        {
            sum += account.Balance + await Get(account.Name);
            pair.n++;
            pair.s += account.Name;
        }
        Note(pair.s + pair.n);
        return sum;
    }

    //+between
    public async Call<long> Closures()
    {
        long sum = _total;
        string tag = "t";
        Func<long, long> add = d => { sum += d; tag += d; return sum; };
        add(1);
        long result = await Get("q");
        add(result);
        async Call<long> Inner(int z) { sum += z; long value = await Get("inner" + z); sum += value; return sum; }
        long x = await Inner(5);
        Note(tag);
        Func<int, int> plus = static q => q + 1;
        await Get("pause");
        return add(plus((int)x));
    }

    public async Call<string> Generic() => await Of("v", new List<string> { "a" }) + await Of(7, new List<int>());
    private async Call<string> Of<T>(T value, List<T> more)
    {
        more.Add(value);
        Func<T, string> text = each => each + "!" + value;
        string name = await Name("g");
        more.Add(value);
        return typeof(T).Name + name + string.Concat(more.Select(text));
    }

    public async Call<long> FanOut()
    {
        Call<long> one = Get("a"), two = Child(7);
        var list = new List<Call<long>>();
        for (int i = 0; i < 3; i++) list.Add(Child(i));
        long first = await one;
        long[] all = await Call.WhenAll(list);
        return first + await two + all.Sum();
    }
    private async Call<long> Child(int i)
    {
        long value = await Get("child" + i);
        if (i == 1) value += await Get("again");
        return value * 10;
    }

    public async Call<string> Misc()
    {
        decimal sum = 1.10m;
        DateTime? when = new DateTime(2026, 1, 2, 3, 4, 5, DateTimeKind.Utc);
        var place = new Place(1, 2);
        foreach (int x in new[] { 1, 2 }) sum += x * await Get("x");
        object what = when;
        string kind = what switch
        {
            string s when s.Length > await Get("len") => "long " + s,
            string s => "short " + s,
            DateTime => "time" + await Get("i"),
            _ => "?"
        };
        place = place with { X = (int)await Get("gx") };
        return sum.ToString(CultureInfo.InvariantCulture) + " " + when.Value.Ticks + " " + place + " " + kind;
    }

    public async Call<long> DeadLocals()
    {
        long n = 0;
        foreach (KeyValuePair<string, Account> each in _accounts) n += each.Value.Balance;
        foreach (string name in new SortedSet<string> { "b" }.Where(static s => s.Length > 0)) n += name.Length;
        { ReadOnlySpan<char> span = "abc"; n += span.Length; }
        n += await Get("dead");
        return n;
    }

    public async Call Recursion() { await Down(1); Note("outer"); }
    private async Call Down(int depth) { if (depth < 4) await Down(depth + 1); await Get("depth" + depth); Note("down" + depth); }

    public async Call<long> AwaitForeach()
    {
        long sum = 0;
        await using var scope = new AsyncScope(this);
        await foreach (long value in new Countdown(this, 3)) sum += value;
        return sum;
    }

    public async Call<long> Conditions()
    {
        long result = (_order.Count > 0 && await Get("p") >= 0) ? await Get("yes") : await Get("no");
        string? name = _total > 99 ? "x" : null;
        name ??= await Name("nn");
        return result + name.Length;
    }

    public async Call<long> Loops()
    {
        long n = 0;
        int turns = 0;
        while (await Get("while") > n - 3 && turns++ < 2) n += await Get("body");
        for (n = await Get("init"); n < await Get("condition") + 8; n += 3 + await Get("increment")) n += await Get("for");
        do { n += await Get("do"); }
        while (turns++ < 4 && await Get("do while") >= 0);
        switch (await Get("switch"))
        {
            case 1: n += await Get("case 1"); break;
            default: n += await Get("default"); break;
        }
        return n > 0 ? await Get("then") : await Get("else");
    }

    public async Call<long> Delegates()
    {
        Func<string, string> side = Side;
        Func<long, long> half = Half;
        Func<List<int>, int> count = Count<int>;
        Predicate<string> isLong = static text => text.Length > 3;
        side("one");
        long value = await Get("delegates");
        side("two");
        return half(value) + count([1, 2]) + (isLong("four") ? 1 : 0);
    }
    private static long Half(long value) => value / 2;
    private static int Count<T>(List<T> list) => list.Count;

    public async Call<long> AsyncLambdas()
    {
        long sum = 1;
        Func<string, Call<long>> ask = async key => { sum += await Get(key); return sum; };
        Func<Shapes, string, Call<long>> other = static async (owner, key) => 2 * await owner.Get(key);
        long first = await ask("lambda 1");
        return first + await ask("lambda 2") + await other(this, "lambda 3");
    }

    public async Call<string> Aliases()
    {
        Account mine = _accounts["eve"];
        Call one = Write(mine, "1"), two = Write(mine, "2");
        string name = await Name("alias");
        mine.Notes.Add(name);
        await Call.WhenAll(one, two);
        return string.Join(",", _accounts["eve"].Notes) + ReferenceEquals(mine, _order[2]);
    }
    private async Call Write(Account account, string text)
    {
        List<string> notes = account.Notes;
        notes.Add(text + await Get("write" + text));
        notes.Add(text + await Get("write again" + text));
    }

    public async Call<string> Interpolated() => $"{await Get("i1")}-{_total,3}-{await Name("i2")}-{_order[(int)await Get("i3") % 3].Name}";

    public async Call<long> ReturnInFinally()
    {
        foreach (string key in new List<string> { "r1", "r2" })
        {
            try
            {
                if (key == "r2") return await Get(key);
                await Get("boom " + key);
            }
            catch (RemoteCallException) { Note("caught " + await Get("caught")); continue; }
            finally { Note("finally " + await Get("finally " + key)); }
        }
        return -1;
    }

    public async Call<string> KeptException()
    {
        Exception? kept = null;
        try { Refuse(42); }
        catch (Refused e) { kept = e; }
        long value = await Get("kept");
        try { throw new ArgumentException("bad", "parameter", kept); }
        catch (ArgumentException e) { kept = e; await Get("kept again"); }
        return kept.Message + ((Refused)kept.InnerException!).Code + ((ArgumentException)kept).ParamName + value;
    }
    private static void Refuse(int code) => throw new Refused("refused", code);

    public async Call<string> Anonymous()
    {
        var item = new { Name = "anonymous", Number = 5 };
        long value = await Get(item.Name);
        return item.Name + (item.Number + value);
    }

    public async Call<long> Many()
    {
        var calls = new Call<long>[30];
        for (int i = 0; i < calls.Length; i++) calls[i] = Child(i);
        return (await Call.WhenAll(calls)).Sum();
    }

    public async Call<string> Collections()
    {
        var set = new HashSet<string> { "b", "a", "c" };
        set.Remove("a");
        var queue = new Queue<Account>(_order);
        var sorted = new SortedDictionary<string, Place> { ["z"] = new(1, 2), ["y"] = new(3, 4) };
        int[,] grid = { { 1, 2 }, { 3, 4 } };
        var linked = new LinkedList<long>();
        linked.AddLast(await Get("collections"));
        set.Add("d" + await Get("more"));
        queue.Dequeue().Notes.Add("dequeued");
        return string.Join(",", set) + queue.Count + sorted.First() + grid[1, 0] + linked.First!.Value;
    }

    public async Call<long> OfAStruct() => await new Counter(this, 5).Count();

    public async Call<long> NestedGeneric() => await new Box<string>.Inner<int>(this, "k", 3).Ask(2.5);
    public sealed class Box<TOuter>
    {
        public sealed class Inner<TInner>(Shapes owner, TOuter key, TInner number)
        {
            private readonly Shapes _owner = owner;
            private readonly TOuter _key = key;
            private readonly TInner _number = number;
            public async Call<long> Ask<T>(T value)
            {
                Func<string> text = () => "" + _key + _number + value;
                long first = await _owner.Get(text());
                return first + await _owner.Get(text() + "again") + text().Length;
            }
        }
    }

    public async Call<string> ChangedList()
    {
        var list = new List<string> { "a", "b" };
        try
        {
            foreach (string each in list)
            {
                await Get("changed " + each);
                list.Add("c");
                await Get("after");
            }
        }
        catch (InvalidOperationException) { return "noticed" + list.Count; }
        return "not noticed";
    }

    public async Call<long> Overloads() => await Over(1) + await Over("x");
    private async Call<long> Over(int value) { Func<long, long> f = x => x + value; long got = await Get("over int"); return f(got); }
    private async Call<long> Over(string value)
    {
        Func<long, long> f = x => x * 2 + value.Length;
        long got = await Get("over text");
        return f(got);
    }

    public async Call<long> ThroughABase() => await new OneMore(this).Twice("base");

    public async Call<string> Cycles()
    {
        var one = new Account { Name = "one" };
        var two = new Account { Name = "two", Peer = one };
        one.Peer = two;
        object?[] all = [one, two, null, 5, "text"];
        all[2] = all;
        string name = await Name(one.Peer!.Peer!.Name);
        return name + ReferenceEquals(one, two.Peer) + ReferenceEquals(all, all[2]) + all[3];
    }

    public async Call<string> AnyOf()
    {
        var calls = new List<Call<long>> { Get("any 1"), Child(1), Get("boom any"), Get("any 3") };
        string text = "";
        while (calls.Count > 0)
        {
            Call<long> done = await Call.WhenAny(calls);
            int first = calls.IndexOf(done);
            try { text += first + ":" + await done + " "; }
            catch (RemoteCallException e) { text += e.Message + " "; }
            calls.RemoveAt(first);
        }
        return text;
    }

    public async Call<string> Cancelled()
    {
        var cancellation = new CallCancellation();
        Call<long> one = Get("cancelled 1").CancelledBy(cancellation), two = Child(3).CancelledBy(cancellation),
            three = Get("cancelled 3").CancelledBy(cancellation);
        string text = "" + await one;
        if (!two.IsCompleted) cancellation.Cancel();
        try { text += await two; }
        catch (OperationCanceledException e) { text += e.GetType().Name; }
        try { text += await three; }
        catch (OperationCanceledException) { text += "cancelled too"; }
        return text + await Get("after") + cancellation.IsCancelled;
    }

    /// <summary>A call that the state keeps, and whose result another handler takes.</summary>
    public async Call<string> StoredCalls()
    {
        _stored = Get("stored");
        Call one = Take("a");
        await Get("meanwhile");
        await one;
        return string.Join(",", _trace);
    }
    private async Call Take(string tag) => Note(tag + await _stored);
    private Call<long> _stored;
}
