using Ambrosia;

namespace CounterSample;

/// <summary>
/// The paper's, §4.2.1: gathers lines from the console. Its thread is started in BecomingPrimary instead of the constructor, because the
/// constructor runs once in the life of the immortal and BecomingPrimary in each process that takes over.
/// </summary>
partial class MyImmortal : Immortal<IMyImmortalProxy>, IMyImmortal
{
    ICounterProxy counter;

    public MyImmortal()
    {
        counter = GetProxy<ICounter>("counter1");
    }

    protected override void BecomingPrimary()
    {
        new Thread(() => {
            string? line;
            while ((line = Console.ReadLine()) != null)
                thisProxy.UserInputFork(line);
        }).Start();
    }

    /// <summary>A number: so many increments; "reset".</summary>
    public void UserInput(string line)
    {
        if (line == "reset") counter.ResetFork();
        else if (int.TryParse(line, out int increments))
            for (int i = 0; i < increments; i++) counter.IncrementFork();
        else Console.WriteLine($"'{line}' is neither a number nor 'reset'");
    }
}
