using Ambrosia;

namespace Conformance;

/// <summary>The conformance kit's probe for the C# binding: its state and plain methods (protocol/conformance/README.md).</summary>
public sealed partial class Probe : Immortal<IProbeProxy>, IProbe
{
    private const long Modulus = 1_000_000_007;

    private readonly SortedSet<string> _keys = new(StringComparer.Ordinal);
    private readonly List<(string To, long Number, string Key)> _pulses = [];
    private byte[] _blob = [];
    private long _total, _trail;
    private RecurringTimer _beat;

    protected override void OnFirstStart()
    {
        IProbeProxy greeter = GetProxy<IProbe>("greeter");
        greeter.AddFork(1);
    }

    protected override void BecomingPrimary()
    {
        // Impulses come from other threads than that of the handlers.
        var pulses = _pulses.ConvertAll(pulse => (Proxy: To(pulse.To), pulse.Number, pulse.Key));
        var thread = new Thread(() =>
        {
            foreach ((IProbeProxy proxy, long number, string key) in pulses)
            {
                if (key.Length == 0) proxy.TickFork(number);
                else proxy.WithKey(key).TickFork(number);
            }
        });
        thread.Start();
        thread.Join();
    }

    public Call<long> Add(long amount) => Call.FromResult(Count(amount));

    public void Tick(long amount) => Count(amount);

    public void Take(ReadOnlySpan<byte> content) => Count(content.Length);

    public void Send(string to, long amount) => To(to).AddFork(amount);

    public void SendMany(string to, long first, int count)
    {
        IProbeProxy proxy = To(to);
        for (int i = 0; i < count; i++) proxy.AddFork(first + i);
    }

    public void Ship(string to, int size) => To(to).TakeFork(Pattern(0, size));

    public Call<ReadOnlyMemory<byte>> Echo(ReadOnlySpan<byte> content) => Call.FromResult<ReadOnlyMemory<byte>>(content.ToArray());

    public Call<long> Total() => Call.FromResult(_total);

    public Call<long> Trail() => Call.FromResult(_trail);

    public void Refuse(string why)
    {
        Count(1);
        throw new Refused(why);
    }

    public Call<string> Defaults(int number = 7, string word = "seven", long? more = null) =>
        Call.FromResult($"{number}/{word}/{(more is { } value ? value : "none")}");

    public Call<Everything> Mirror(Everything value) => Call.FromResult(value);

    public Call<long> Measure(IShape shape) => Call.FromResult(shape is Circle circle ? circle.Radius : ((Square)shape).Side);

    public Call<int> Remember(string key)
    {
        _keys.Add(key);
        return Call.FromResult(_keys.Count);
    }

    public Call<List<string>> Recall() => Call.FromResult<List<string>>([.. _keys]);

    public void Grow(int size) => _blob = [.. _blob, .. Pattern(_blob.Length, size)];

    public long Peek() => _total;

    private long Count(long amount)
    {
        _total = unchecked(_total + amount);
        _trail = (long)((((Int128)_trail * 31 + amount) % Modulus + Modulus) % Modulus);
        return _total;
    }

    private IProbeProxy To(string name) => GetProxy<IProbe>(name.Length == 0 ? InstanceName : name);

    private static byte[] Pattern(int first, int size)
    {
        var bytes = new byte[size];
        for (int i = 0; i < size; i++) bytes[i] = (byte)((first + i) % 251);
        return bytes;
    }
}
