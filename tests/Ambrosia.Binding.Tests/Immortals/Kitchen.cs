namespace Ambrosia.Binding.Tests.Immortals;

public interface IKitchen
{
    [MethodId(1)]
    void Note(string what);

    [MethodId(2)]
    void Bytes(ReadOnlySpan<byte> bytes);

    [MethodId(3)]
    Call<string> Ask(int number, string? hint);

    [MethodId(4), ImpulseHandler]
    void Told(string line);

    [MethodId(5), ImpulseHandler]
    void MakeAnother();
}

/// <summary>Does a little of everything, for unit tests.</summary>
public sealed partial class Kitchen : Immortal<IKitchenProxy>, IKitchen
{
    private readonly IKitchenProxy _other;
    private CallCancellation _asking = new();

    public Kitchen() => _other = GetProxy<IKitchen>("other");

    internal List<string> Notes { get; } = [];

    internal bool Breaks { get; set; }

    public void Note(string what) => Notes.Add(what.Length > 0 ? what : throw new FormatException("nothing to note"));

    public void Bytes(ReadOnlySpan<byte> bytes) => Note($"{bytes.Length} bytes");

    public Call<string> Ask(int number, string? hint) => Call.FromResult($"{number}{hint}");

    public void Told(string line) => Note(line);

    public void MakeAnother()
    {
        try
        {
            _ = new Kitchen();
        }
        catch (InvalidOperationException e)
        {
            Note(e.Message);
        }
    }

    protected override void OnFirstStart()
    {
        Logger.Information($"started in {InstanceName}");
        Every(TimeSpan.FromSeconds(50), Tick);
    }

    internal void Send()
    {
        _other.NoteFork("milk");
        _other.BytesFork([1, 2]);
        Call<string> unanswered = _other.AskAsync(3, null);
        Told(thisProxy, $"{unanswered.IsCompleted}");
    }

    internal async Call<string> AskTwice() => await _other.AskAsync(1, "first") + await _other.AskAsync(2, "second");

    internal async Call<string> AskUnlessStopped() => await _other.AskAsync(1, null).CancelledBy(_asking);

    internal void Stop()
    {
        _asking.Cancel();
        _asking = new CallCancellation();
    }

    internal async Call Later(int seconds)
    {
        await Delay(TimeSpan.FromSeconds(seconds));
        Note($"{Now:HH:mm:ss} later");
    }

    internal (Guid, int) Draw() => (NewGuid(), Random.Next());

    internal async Call<int> Compute(int number)
    {
        return await NondetTask(context => Power(number, context), new NondetOptions { Attempts = 2 });
    }

    /// <summary>Stands for a thread that gathers input.</summary>
    private static void Told(IKitchenProxy self, string line) => _ = self.WithKey("line-1").ToldLogged(line);

    private static async Task<int> Power(int number, NondetContext context)
    {
        await Task.Yield();
        if (number < 0) throw new ArgumentException("negative");
        int exponent = int.Parse((string)context.Services.GetService(typeof(string))!, System.Globalization.CultureInfo.InvariantCulture);
        return (int)Math.Pow(number, exponent);
    }

    private void Tick() => Note(Breaks ? throw new NotSupportedException("broken") : $"{Now:HH:mm:ss}");
}
