namespace Ambrosia.Binding.Tests;

public interface IFlood
{
    [ImpulseHandler]
    void Sample(byte[] bytes);
}

/// <summary>More impulses from a thread than may wait to be sent.</summary>
public sealed partial class Flood : Immortal<IFloodProxy>, IFlood
{
    internal const int Impulses = 5000;

    protected override void BecomingPrimary()
    {
        IFloodProxy self = thisProxy;
        new Thread(() =>
        {
            for (int i = 0; i < Impulses; i++) self.SampleFork(new byte[2000]);
        }) { IsBackground = true }.Start();
    }

    public void Sample(byte[] bytes)
    {
    }
}
