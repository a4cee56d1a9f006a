namespace Ambrosia.Perf;

/// <summary>
/// The state of the books: half of the bytes are arrays of structs, a quarter byte arrays, and a quarter objects with a text. Both builds
/// have this file.
/// </summary>
public sealed class Pages
{
    private const int EntriesOfAnArray = 1024, ArraysOfAMebibyte = 21, DocumentBytes = 16 << 10, DocumentsOfAMebibyte = 16,
        CustomersOfAMebibyte = 4096;

    private readonly List<Entry[]> _entries = [];
    private readonly List<byte[]> _documents = [];
    private readonly List<Customer> _customers = [];

    /// <summary>What is added follows from what is there.</summary>
    public void Add(int mebibytes)
    {
        for (int i = 0; i < mebibytes; i++)
        {
            for (int j = 0; j < ArraysOfAMebibyte; j++) _entries.Add(NewEntries(_entries.Count));
            for (int j = 0; j < DocumentsOfAMebibyte; j++) _documents.Add(NewDocument(_documents.Count));
            for (int j = 0; j < CustomersOfAMebibyte; j++) _customers.Add(new Customer(_customers.Count));
        }
    }

    private static Entry[] NewEntries(int number)
    {
        var made = new Entry[EntriesOfAnArray];
        for (int i = 0; i < made.Length; i++)
            made[i] = new Entry { Number = ((long)number * EntriesOfAnArray) + i, Cents = i * 100, Kind = i % 7, Page = number };
        return made;
    }

    private static byte[] NewDocument(int number)
    {
        byte[] made = new byte[DocumentBytes];
        for (int i = 0; i < made.Length; i++) made[i] = (byte)(i * 31 + number);
        return made;
    }

    internal struct Entry
    {
        public long Number, Cents;
        public int Kind, Page;
    }

    internal sealed class Customer(int number)
    {
        private readonly string _name = $"customer of the books number {number}";
        private readonly long _number = number;
        private readonly long _since = 1_700_000_000_000 + number;

        public override string ToString() => $"{_name} {_number} {_since}";
    }
}
