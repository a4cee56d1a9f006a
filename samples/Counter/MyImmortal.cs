using Ambrosia;

namespace CounterSample;

/// <summary>
/// This is the class of the paper, §4.2.1. It reads lines from the console. Its thread is started in BecomingPrimary instead of the
/// constructor, because the constructor runs once in the life of the immortal and BecomingPrimary in each process that takes over.
/// </summary>
partial class MyImmortal : Immortal<IMyImmortalProxy>, IMyImmortal
{
    ICounterProxy _counter;

    public MyImmortal()
    {
        _counter = GetProxy<ICounter>("counter1");
    }

    protected override void BecomingPrimary()
    {
        new Thread(() => {
            string? line;
            while ((line = Console.ReadLine()) != null)
                thisProxy.UserInputFork(line);
        }).Start();
    }

    /// <summary>Takes a line: a number makes so many increments, and "reset" resets the counter.</summary>
    public void UserInput(string line)
    {
        if (line == "reset") _counter.ResetFork();
        else if (int.TryParse(line, out int increments))
            for (int i = 0; i < increments; i++) _counter.IncrementFork();
        else Console.WriteLine($"'{line}' is neither a number nor 'reset'");
    }
}
