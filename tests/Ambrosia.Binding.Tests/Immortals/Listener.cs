namespace Ambrosia.Binding.Tests;

public interface IListener
{
    [ImpulseHandler]
    [MethodId(1)]
    void UserInput(string line);
}

/// <summary>The paper's example of impulses (§4.2.1): nothing but the thread asks for the immortal's proxy of itself.</summary>
public sealed partial class Listener : Immortal<IListenerProxy>, IListener
{
    [NotState]
    public Thread? Thread { get; private set; }

    public void UserInput(string line)
    {
    }

    protected override void BecomingPrimary()
    {
        Thread = new Thread(() => thisProxy.UserInputFork("typed"));
        Thread.Start();
    }
}
